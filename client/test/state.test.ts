import assert from 'node:assert/strict';
import test from 'node:test';
import { agendaButton, agendaOf, viewAgenda } from '../src/agenda.ts';
import { acceptFile, FILE_BYTES_MAX, firstKind, titleOfPaste } from '../src/documents.ts';
import { CallFailed, errorText, failureText, mayDictate, voiceProblemText } from '../src/errors.ts';
import { backoffS, envelope, parse } from '../src/protocol.ts';
import { INITIAL, reduce, styleNow, type Event, type Me, type State } from '../src/state.ts';
import { elsewhereText, micButton, offersDictation, privacyText, statusText } from '../src/status.ts';
import { S } from '../src/strings.ts';
import { duration, when } from '../src/when.ts';

const ADA: Me = { uid: 'u', email: 'a@x', role: 'approved' };
const play = (from: State, ...events: Event[]): State => events.reduce(reduce, from);
const opened = play(INITIAL, { type: 'signedIn', me: ADA }, {
  type: 'conversationOpened', sessionId: 's', style: null,
  grounded: { topicId: 't', topic: 'Tides', digest: 'd', sources: [] },
});
const rtvi = (type: string, data: object = {}): Event => ({ type: 'heard', message: parse(envelope(type, data, 'x'))! });
const own = (type: string, data: object = {}): Event => rtvi('server-message', { type, ...data });
const inVoice = play(opened, { type: 'voiceLink', link: 'connecting' }, { type: 'voiceLink', link: 'connected' });

// @req UI-24 UI-25 UI-26 UI-27 UI-28 UI-29 UI-30 UI-31
test('UI-24..32: state words to status texts', () => {
  const status = (...events: Event[]): string => statusText(play(inVoice, ...events));
  assert.equal(statusText(INITIAL), S.statusNoTopic);
  assert.equal(statusText(opened), S.statusIdle);
  assert.equal(statusText(play(opened, { type: 'voiceLink', link: 'connecting' })), S.statusConnecting);
  assert.equal(status(), S.statusConnecting);
  assert.equal(status(rtvi('bot-ready')), S.statusConnecting);
  assert.equal(status(own('status', { state: 'listening' })), S.statusListening);
  assert.equal(status(own('status', { state: 'formulating' })), S.statusFormulating);
  assert.equal(status(own('status', { state: 'speaking', mayInterrupt: true })), S.statusSpeaking);
  assert.equal(status(own('status', { state: 'speaking', mayInterrupt: false })), S.statusSpeakingPaused);
  assert.equal(status(own('status', { state: 'idle' })), S.statusOn);
  assert.equal(status(own('status', { state: 'reconnecting' })), S.statusReconnecting);
  assert.equal(status({ type: 'voiceLink', link: 'paused' }), S.statusPaused);
  assert.equal(status({ type: 'voiceLink', link: 'silenced' }), S.statusSilenced);
  assert.equal(status({ type: 'voiceLink', link: 'reconnecting' }), S.statusReconnecting);
  assert.equal(status({ type: 'voiceLink', link: 'off' }), S.statusIdle);
  assert.equal(status({ type: 'voiceFailed', problem: 'NotAllowedError' }), S.micDenied);
  assert.equal(statusText(play(opened, { type: 'onlineChanged', online: false })), S.statusOffline);
});

// @req UI-32
test('UI-32: busy shows Thinking… but never over the speaking status', () => {
  const asked: Event = { type: 'turnAsked', turnId: 't1', text: 'why' };
  assert.equal(statusText(play(opened, asked)), S.statusThinking);
  assert.equal(statusText(play(inVoice, asked, own('status', { state: 'speaking', mayInterrupt: true }))), S.statusSpeaking);
});

// @req UI-22
test('UI-22: the mic says what a tap does', () => {
  assert.deepEqual(micButton(INITIAL), { label: S.micNoTopic, action: 'none' });
  assert.deepEqual(micButton(opened), { label: S.micStart, action: 'start' });
  assert.deepEqual(micButton(inVoice), { label: S.micStop, action: 'stop' });
  assert.deepEqual(micButton(play(inVoice, { type: 'voiceLink', link: 'paused' })), { label: S.micGoOn, action: 'recover' });
});

// @req UI-39
test('UI-39: a typed turn shows, waits, is answered', () => {
  const asked = play(opened, { type: 'turnAsked', turnId: 'q', text: 'why?' });
  assert.equal(asked.lesson!.busy, true);
  const done = play(asked, { type: 'turnAnswered', turnId: 'q', answer: { text: 'Because.', updatedRevealState: { agenda: ['a', 'b'], coveredAngles: ['b'] } } });
  assert.deepEqual([done.lesson!.busy, done.lesson!.persisted, done.lesson!.log.length], [false, true, 1]);
  assert.deepEqual([done.lesson!.log[0]!.learner, done.lesson!.log[0]!.tutor], ['why?', 'Because.']);
  assert.equal(viewAgenda(done.lesson!.agenda).header, '1 of 2 points covered');
});

// @req UI-60
test('a failed turn keeps the conversation and the words', () => {
  const failed = play(opened, { type: 'turnAsked', turnId: 'q', text: 'why?' }, { type: 'turnFailed', turnId: 'q' });
  assert.deepEqual([failed.lesson!.busy, failed.lesson!.log[0]!.delivery], [false, 'failed']);
  const opening = play(opened, { type: 'turnAsked', turnId: 'q', text: '' }, { type: 'turnFailed', turnId: 'q' });
  assert.equal(opening.lesson!.openingFailed, true);
});

// @req RTC-7 UI-21 UI-37
test('RTC-7: one spoken exchange over the channel', () => {
  const after = play(inVoice,
    rtvi('user-transcription', { text: 'cold water', final: false, turnId: 'v1' }),
    rtvi('user-transcription', { text: 'cold water sinks', final: true, turnId: 'v1' }),
    rtvi('bot-output', { text: 'Why does it', turnId: 'v1', replace: true }),
    rtvi('bot-interrupted'),
    own('interrupted', { turnId: 'v1', heard: 'Why' }),
    own('system', { text: S.interruptedLine, code: 'interrupted', turnId: 'v1' }),
    own('turn', { turnId: 'v1', mode: 'probe', userText: 'cold water sinks', text: 'Why', interrupted: true, saved: true }),
    own('agenda', { agenda: ['x'], coveredAngles: ['x'], complete: true }));
  const { log, agenda, persisted } = after.lesson!;
  assert.deepEqual(log.map((e) => [e.learner, e.tutor, e.interrupted]), [['cold water sinks', 'Why', true]]);
  assert.equal(viewAgenda(agenda).complete, true);
  assert.equal(persisted, true);
});

// @req UI-33
test('UI-33: a turn that was not saved is told', () => {
  const after = play(inVoice, own('turn', { turnId: 'v', userText: 'a', text: 'b', interrupted: false, saved: false }));
  assert.deepEqual([after.alert!.text, after.toast], [S.saveFailed, null]);
  const told = play(after, own('notice', { text: S.saveFailed, code: 'save-failed' }));
  assert.equal(told.toast, null);
  assert.equal(play(told, own('turn', { turnId: 'w', userText: 'a', text: 'b', interrupted: false, saved: true })).alert, null);
});

// @req UI-35 UI-36
test('UI-35/36: style of the conversation, else the choice, else the preference, else Socratic', () => {
  assert.equal(styleNow(opened), 'socratic');
  const preferring = play(opened, { type: 'signedIn', me: { ...ADA, preferredStyle: 'lecture' } });
  assert.equal(styleNow(preferring), 'lecture');
  assert.equal(styleNow(play(preferring, { type: 'styleChosen', style: 'conversational' })), 'conversational');
  assert.equal(styleNow(play(preferring, { type: 'conversationLeft' }), 'socratic'), 'socratic');
});

// @req UI-6
test('UI-6: losing the role closes everything but the gate', () => {
  const gone = play(inVoice, { type: 'signedIn', me: { ...ADA, role: 'rejected' } });
  assert.deepEqual([gone.lesson, gone.voice.link, gone.tab], [null, 'off', 'chat']);
});

// @req VOICE-65 UI-21 UI-38 UI-41
test('VOICE-65: resume restores turns, agenda, context and style', () => {
  const { lesson, tab } = play(INITIAL, { type: 'signedIn', me: ADA }, { type: 'conversationResumed', session: {
    sessionId: 's', topicIds: ['t'], topicLabels: { t: 'Tides' }, style: 'lecture', turns: [{ text: 'Hi?' }],
    grounded: { t: { topic: 'Tides', digest: 'The moon.', sources: [] } }, revealState: { t: { agenda: ['a'], coveredAngles: [] } },
  } });
  assert.deepEqual([lesson!.grounded.digest, lesson!.style, lesson!.agenda.points, lesson!.log[0]!.tutor, tab], ['The moon.', 'lecture', ['a'], 'Hi?', 'chat']);
});

// @req RTC-13
test('RTC-13: garbage, foreign labels and unknown types mean nothing', () => {
  for (const frame of ['', '{', 'null', '[]', '{"label":"other","type":"bot-ready"}', envelope('novel', {}, '1'), envelope('server-message', { type: 'novel' }, '1'), envelope('server-message', { type: 'status', state: 'dancing' }, '1')])
    assert.equal(parse(frame), null);
  assert.deepEqual(parse(envelope('user-transcription', { text: 5 }, '1')), { type: 'learner', turnId: '', text: '', final: false, requestId: '' });
});

test('the envelope', () => {
  assert.deepEqual(JSON.parse(envelope('client-message', { t: 'ping' }, 'c1')), { label: 'rtvi-ai', type: 'client-message', id: 'c1', data: { t: 'ping' } });
});

test('back-off is capped', () => assert.deepEqual([0, 1, 2, 3, 4, 9].map(backoffS), [0.5, 1, 2, 4, 8, 8]));

// @req UI-19 UI-20
test('UI-19/20: agenda in order, parts of five above eight points', () => {
  const points = (n: number): string[] => Array.from({ length: n }, (_, i) => `p${i}`);
  const shape = (n: number): [string | null, number][] => viewAgenda({ points: points(n), covered: [] }).parts.map((p) => [p.heading, p.points.length]);
  assert.deepEqual(shape(8), [[null, 8]]);
  assert.deepEqual(shape(9), [['Part 1', 5], ['Part 2', 4]]);
  assert.equal(shape(20).length, 4);
  const view = viewAgenda({ points: ['a', 'b', 'c', 'd', 'e'], covered: ['d', 'a'] });
  assert.equal(view.header, '2 of 5 points covered');
  assert.deepEqual(view.parts[0]!.points.map((p) => p.covered), [true, false, false, true, false]);
  assert.equal(viewAgenda({ points: [], covered: [] }).complete, false);
  assert.deepEqual(agendaOf(undefined, 't'), { points: [], covered: [] });
});

// @req UI-60
test('UI-60: a text per code', () => {
  const codes = ['offline', 'unauthenticated', 'permission-denied', 'resource-exhausted', 'rate', 'not-found', 'invalid-argument', 'failed-precondition', 'unavailable', 'deadline-exceeded', 'internal'];
  assert.equal(new Set(codes.map((code) => errorText(code))).size, codes.length);
  assert.equal(errorText('invalid-argument', 'The title is too long.'), 'The title is too long.');
  assert.equal(errorText('internal', 'Traceback.'), S.errorOther);
  assert.equal(voiceProblemText('NotReadableError'), S.micBusy);
  assert.equal(voiceProblemText('NotFoundError'), S.micMissing);
});

// @req UI-13
test('documents: types by name, sizes, titles', () => {
  assert.deepEqual(acceptFile('My notes.MD', 5), { mimeType: 'text/markdown', title: 'My notes', problem: '' });
  assert.equal(acceptFile('a.pdf', FILE_BYTES_MAX).problem, '');
  assert.equal(acceptFile('a.pdf', FILE_BYTES_MAX + 1).problem, S.fileSize);
  assert.equal(acceptFile('a.txt', 0).problem, S.fileEmpty);
  assert.equal(acceptFile('a.docx', 5).problem, S.fileType);
  assert.equal(titleOfPaste('\n# The tides\nbody'), 'The tides');
  assert.equal(titleOfPaste('1. Water is wet'), 'Water is wet');
  assert.equal(titleOfPaste('  \n42'), S.pastedTitle);
  assert.equal(titleOfPaste('Mitochondria make ATP for the cell. Ribosomes build proteins.'), 'Mitochondria make ATP for the cell');
  assert.equal(titleOfPaste('Why is the sky blue? It scatters.'), 'Why is the sky blue');
  assert.equal(titleOfPaste('one two three four five six seven, eight nine'), 'one two three four five six seven, eight');
  assert.equal(titleOfPaste('one two three four five six seven eight'), 'one two three four five six seven eight');
  assert.equal(titleOfPaste('e.g. version 2.0 of the plan'), 'e.g. version 2.0 of the plan');
  assert.equal(titleOfPaste('deoxyribonucleic '.repeat(6)), 'deoxyribonucleic deoxyribonucleic deoxyribonucleic');
  assert.equal(titleOfPaste('x'.repeat(200)), 'x'.repeat(60));
});

// @req UI-8
test('the local tutor is offered a document first, a model with knowledge a concept', () => {
  assert.deepEqual([firstKind(true), firstKind(false)], ['document', 'core']);
});

test('times: today, this week, this year, before', () => {
  const now = new Date(2026, 10, 30, 18, 0);
  assert.equal(when(new Date(2026, 10, 30, 9, 5).toISOString(), now), '09:05');
  assert.equal(when(new Date(2026, 10, 28, 9, 5).toISOString(), now), 'Sat 09:05');
  assert.equal(when(new Date(2026, 2, 4).toISOString(), now), 'Mar 4');
  assert.equal(when(new Date(2025, 2, 4).toISOString(), now), 'Mar 4, 2025');
  assert.equal(when('nonsense', now), '');
});

test('durations', () => assert.deepEqual([0, 61.9, 3_600, -5].map(duration), ['0:00', '1:01', '1:00:00', '0:00']));

// @req UI-60 AUTH-20
test('a daily limit says when it ends, by the clock of this device; a short wait is told by the server', () => {
  const now = new Date(2026, 10, 30, 18, 0);
  const limit = (waitS: number | null, message = ''): string => failureText(new CallFailed('resource-exhausted', message, 429, waitS), now);
  assert.equal(limit(4 * 3600), 'You have reached today’s limit. You can go on at 22:00; your conversation is kept.');
  assert.equal(limit(8 * 3600), 'You have reached today’s limit. You can go on tomorrow at 02:00; your conversation is kept.');
  assert.equal(limit(15, 'You have 3 voice lessons open. Close one of them first.'), 'You have 3 voice lessons open. Close one of them first.');
  assert.equal(limit(null), S.errorLimit);
  assert.equal(failureText(new CallFailed('aborted', 'x', 409, 30, 'running'), now), S.pipelineBusy);
  assert.equal(failureText(new CallFailed('unavailable', 'The tutor cannot be reached right now.', 503, null, 'model-down'), now), 'The tutor cannot be reached right now.');
  assert.equal(failureText(new CallFailed('unavailable', 'The tutor cannot be reached right now.', 503), now), S.errorBusy);
});

test('a sign-in that ran out keeps the conversation for the same person only', () => {
  const away = play(inVoice, { type: 'turnAsked', turnId: 'q', text: 'why?' }, { type: 'signInExpired' });
  assert.deepEqual([away.door, away.me, away.voice.link, away.lesson!.busy, away.lesson!.log[0]!.delivery], ['signin', null, 'off', false, 'failed']);
  const twice = play(away, { type: 'signInExpired' });
  assert.equal(play(twice, { type: 'signedIn', me: ADA }).lesson!.sessionId, 's');
  assert.equal(play(twice, { type: 'signedIn', me: { ...ADA, uid: 'other' } }).lesson, null);
  assert.equal(play(away, { type: 'signedOut' }).lesson, null);
});

test('a failed grounding is told where it was asked for, until the next one', () => {
  const failed = play(INITIAL, { type: 'groundingStarted', kind: 'news' }, { type: 'slowNoticed' }, { type: 'groundingEnded', problem: 'No.' });
  assert.deepEqual([failed.grounding, failed.groundingProblem, failed.slow], ['no', 'No.', false]);
  assert.equal(play(failed, { type: 'groundingStarted', kind: 'topic' }).groundingProblem, null);
});

test('slowness is told while something is waited for, and no longer', () => {
  const slow = play(opened, { type: 'turnAsked', turnId: 'q', text: 'why?' }, { type: 'slowNoticed' });
  assert.equal(slow.slow, true);
  assert.equal(play(slow, { type: 'turnAnswered', turnId: 'q', answer: { text: 'So.', updatedRevealState: {} } }).slow, false);
  assert.equal(play(opened, { type: 'slowNoticed' }).slow, false);
});

test('what the server of a call can do is its word in bot-ready, as a list or as words', () => {
  assert.deepEqual(play(inVoice, rtvi('bot-ready', { about: { features: ['ptt', 5, 'replay'] } })).voice.features, ['ptt', 'replay']);
  assert.deepEqual(play(inVoice, rtvi('bot-ready', { about: { features: 'ptt, replay' } })).voice.features, ['ptt', 'replay']);
  assert.deepEqual(play(inVoice, rtvi('bot-ready', { about: { library: 'pidjin' } })).voice.features, []);
  const ready = play(inVoice, rtvi('bot-ready', { about: { features: ['ptt'] } }));
  assert.deepEqual(play(ready, { type: 'voiceLink', link: 'off' }).voice.features, []);
});

// @req OWN-27
test('a held Space is told in the status', () => {
  const holding = play(inVoice, { type: 'holding', on: true });
  assert.equal(statusText(holding), S.statusHolding('Space'));
  assert.equal(statusText(holding, 'other', 'Ctrl'), 'Hold Ctrl while you speak — release it when you are done.');
  assert.notEqual(statusText(play(holding, { type: 'holding', on: false })), S.statusHolding('Space'));
});

test('the privacy light tells what leaves the device, only while the microphone is open', () => {
  assert.equal(privacyText(opened, true), '');
  assert.equal(privacyText(inVoice, true), S.sending);
  assert.equal(privacyText(inVoice, false), S.notSending);
  assert.equal(privacyText(play(inVoice, { type: 'voiceLink', link: 'paused' }), true), S.micIsOff);
});

// @req VOICE-46 UI-26
test('where no call can be made, the browser may turn speech into typed turns', () => {
  assert.deepEqual(['unsupported', 'blocked', 'unreachable', 'lost', 'NotAllowedError', null].map(mayDictate), [true, true, true, true, false, false]);
  const blocked = play(inVoice, { type: 'voiceFailed', problem: 'blocked' });
  assert.equal(offersDictation(blocked, true), true);
  assert.equal(offersDictation(blocked, false), false);
  const dictating = play(blocked, { type: 'dictating', on: true }, { type: 'dictated', words: 'the deep' });
  assert.deepEqual([statusText(dictating), dictating.voice.interim, micButton(dictating).action, offersDictation(dictating, true)],
    [S.statusListening, 'the deep', 'stop', false]);
  assert.equal(statusText(play(dictating, { type: 'reading', on: true })), S.statusSpeakingPaused);
  assert.equal(statusText(play(dictating, { type: 'turnAsked', turnId: 'q', text: 'x' })), S.statusThinking);
  assert.equal(play(dictating, { type: 'dictating', on: false }).voice.link, 'off');
});

test('a server of another version asks for a reload', () => {
  const is = (version: string): Event => ({ type: 'identityLearnt', identity: { mode: 'local', localTutor: true, version } });
  assert.equal(play(INITIAL, is('1.0')).updated, false);
  assert.equal(play(INITIAL, is('1.0'), is('1.0')).updated, false);
  assert.equal(play(INITIAL, is('1.0'), is('1.1')).updated, true);
});

// @req UI-16 UI-17 UI-18
test('the agenda button: none yet, open, complete', () => {
  const button = (points: string[], covered: string[]) => agendaButton({ points, covered });
  assert.deepEqual(agendaButton(undefined), { label: S.agendaNone, disabled: true, complete: false });
  assert.deepEqual(button([], []), { label: S.agendaNone, disabled: true, complete: false });
  assert.deepEqual(button(['a', 'b'], ['a']), { label: S.agenda, disabled: false, complete: false });
  assert.deepEqual(button(['a', 'b'], ['b', 'a']), { label: S.agendaComplete, disabled: false, complete: true });
});

// @req UI-2 UI-59
test('a new topic empties the page; a grounded one opens on Chat', () => {
  assert.deepEqual([play(inVoice, { type: 'conversationLeft' }).lesson, play(inVoice, { type: 'conversationLeft' }).voice.link], [null, 'off']);
  assert.deepEqual([opened.tab, opened.lesson!.log.length, opened.lesson!.busy], ['chat', 0, false]);
});

test('a microphone that was blocked and then allowed is no problem any more; another problem stays', () => {
  const blocked = play(inVoice, { type: 'voiceFailed', problem: 'NotAllowedError' });
  assert.equal(statusText(play(blocked, { type: 'microphoneAllowed' })), S.statusIdle);
  const missing = play(inVoice, { type: 'voiceFailed', problem: 'NotFoundError' });
  assert.equal(statusText(play(missing, { type: 'microphoneAllowed' })), S.micMissing);
});

test('while the browser asks for the microphone the page says so', () => {
  const asked = play(opened, { type: 'voiceLink', link: 'connecting' }, { type: 'microphoneAsked', on: true });
  assert.deepEqual([statusText(asked), privacyText(asked, false)], [S.statusConnecting, S.micAsking]);
  assert.equal(privacyText(play(asked, { type: 'microphoneAsked', on: false }), false), '');
});

test('a failure stays until it is dismissed or asked for again; notices pass by beside it', () => {
  const failed = play(opened, { type: 'toasted', text: 'No.', tone: 'error' }, { type: 'toasted', text: 'Copied.', tone: 'plain' });
  assert.deepEqual([failed.alert!.text, failed.toast!.text], ['No.', 'Copied.']);
  assert.equal(play(failed, { type: 'toastGone' }).alert!.text, 'No.');
  assert.equal(play(failed, { type: 'alertDismissed' }).alert, null);
  assert.equal(play(failed, { type: 'turnAsked', turnId: 'q', text: 'why?' }).alert, null);
  assert.equal(play(failed, { type: 'toasted', text: 'No.', tone: 'plain' }).toast!.text, 'Copied.', 'told once');
});

// @req UI-38 UI-41
test('a resumed conversation is dated by its topic, and its news goes on with it', () => {
  const session = { sessionId: 's', topicIds: ['t'], turns: [], grounded: { t: { topic: 'Tides', digest: 'The moon.', sources: [] } } };
  const resumed = play(INITIAL, { type: 'signedIn', me: ADA }, { type: 'conversationResumed', session });
  const topic = { topicId: 't', topic: 'Tides', kind: 'core', digest: 'The moon.', sources: [], groundedAt: '2026-11-30T20:00:00Z' };
  const grounded = (change: object): unknown => play(resumed, { type: 'topicRead', topic: { ...topic, ...change } }).lesson!.grounded;
  assert.equal((grounded({}) as { groundedAt: string }).groundedAt, topic.groundedAt);
  assert.equal((grounded({ digest: 'The sun.' }) as { digest: string }).digest, 'The moon.', 'a conversation keeps what it began with');
  assert.equal((grounded({ digest: 'The sun.', kind: 'news' }) as { digest: string }).digest, 'The sun.');
  assert.deepEqual(grounded({ topicId: 'other' }), resumed.lesson!.grounded);
});

test('an interrupted reply can be gone on with while it is on the page', () => {
  const cut = play(inVoice, own('turn', { turnId: 'v', userText: 'a', text: 'Cold water', unheard: 'sinks.', interrupted: true, saved: true }));
  const whole = play(inVoice, own('turn', { turnId: 'v', userText: 'a', text: 'Cold water sinks.', interrupted: true, saved: true }));
  assert.deepEqual([cut, whole].map((state) => state.lesson!.log.map(({ cut: can, unheard }) => [can, unheard])), [[[true, 'sinks.']], [[false, '']]]);
});

test('a lesson that listens is told on every tab but its own, and whether sound leaves', () => {
  const listening = play(inVoice, own('status', { state: 'listening' }));
  const at = (state: State, tab: 'chat' | 'history' | 'admin', sending = false): string | null => elsewhereText(play(state, { type: 'tabChosen', tab }), sending);
  assert.deepEqual([at(listening, 'chat'), at(listening, 'history'), at(listening, 'admin', true)], [null, S.notSending, S.sending]);
  assert.deepEqual([at(opened, 'history'), at(INITIAL, 'history')], [null, null]);
  assert.equal(at(play(listening, { type: 'voiceLink', link: 'reconnecting' }), 'history'), S.statusReconnecting);
  assert.equal(at(play(listening, { type: 'voiceLink', link: 'paused' }), 'history'), S.micIsOff);
  assert.equal(at(play(opened, { type: 'dictating', on: true }), 'history'), S.statusListening, 'the browser listens too');
});

test('what was wrong with a source is said until it is another one', () => {
  const failed = play(INITIAL, { type: 'groundingEnded', problem: 'No sentences.' });
  assert.equal(failed.groundingProblem, 'No sentences.');
  assert.equal(play(failed, { type: 'sourceChanged' }).groundingProblem, null);
});

test('that the server cannot be reached is said until it answers', () => {
  const identity = { mode: 'local', localTutor: true, version: '1' } as const;
  const away = play(INITIAL, { type: 'toasted', text: S.errorOffline, tone: 'error' }, { type: 'groundingEnded', problem: S.errorOffline });
  const back = play(away, { type: 'identityLearnt', identity });
  assert.deepEqual([back.alert, back.groundingProblem], [null, null]);
  const other = play(INITIAL, { type: 'toasted', text: 'No.', tone: 'error' }, { type: 'groundingEnded', problem: 'No.' }, { type: 'identityLearnt', identity });
  assert.deepEqual([other.alert!.text, other.groundingProblem], ['No.', 'No.'], 'another failure stays');
});

test('a reload comes back to the tab that was looked at', () => {
  const session = { sessionId: 's', topicIds: ['t'], turns: [{ text: 'Hi?' }] };
  const reloaded = play(INITIAL, { type: 'tabChosen', tab: 'history' }, { type: 'signedIn', me: ADA }, { type: 'conversationResumed', session, tab: 'history' });
  assert.deepEqual([reloaded.tab, reloaded.lesson!.sessionId], ['history', 's']);
});

test('what was said in another window is added to the conversation, with its agenda', () => {
  const session = { sessionId: 's', topicIds: ['t'], turns: [{ text: 'Hi?' }] };
  const here = play(INITIAL, { type: 'signedIn', me: ADA }, { type: 'conversationResumed', session });
  const turns = [...session.turns, { userText: 'Cold water sinks.', text: 'Why?' }];
  const revealState = { t: { agenda: ['a'], coveredAngles: ['a'] } };
  const after = play(here, { type: 'conversationRead', session: { ...session, turns, revealState } });
  assert.deepEqual(after.lesson!.log.map(({ tutor }) => tutor), ['Hi?', 'Why?']);
  assert.equal(viewAgenda(after.lesson!.agenda).complete, true);
  const busy = play(here, { type: 'turnAsked', turnId: 'q', text: '' });
  for (const [state, other] of [[here, 'another'], [busy, 's']] as const)
    assert.equal(play(state, { type: 'conversationRead', session: { ...session, sessionId: other, turns } }).lesson!.log.length, 1);
});
