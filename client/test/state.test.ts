import assert from 'node:assert/strict';
import test from 'node:test';
import { agendaOf, viewAgenda } from '../src/agenda.ts';
import { acceptFile, FILE_BYTES_MAX, titleOfPaste } from '../src/documents.ts';
import { errorText, voiceProblemText } from '../src/errors.ts';
import { backoffS, envelope, parse } from '../src/protocol.ts';
import { INITIAL, reduce, styleNow, type Event, type Me, type State } from '../src/state.ts';
import { micButton, statusText } from '../src/status.ts';
import { S } from '../src/strings.ts';
import { when } from '../src/when.ts';

const ADA: Me = { uid: 'u', email: 'a@x', role: 'approved' };
const play = (from: State, ...events: Event[]): State => events.reduce(reduce, from);
const opened = play(INITIAL, { type: 'signedIn', me: ADA }, {
  type: 'conversationOpened', sessionId: 's', style: null,
  grounded: { topicId: 't', topic: 'Tides', digest: 'd', sources: [] },
});
const rtvi = (type: string, data: object = {}): Event => ({ type: 'heard', message: parse(envelope(type, data, 'x'))! });
const own = (type: string, data: object = {}): Event => rtvi('server-message', { type, ...data });
const inVoice = play(opened, { type: 'voiceLink', link: 'connecting' }, { type: 'voiceLink', link: 'connected' });

test('UI-24..32: state words to status texts', () => {
  const status = (...events: Event[]): string => statusText(play(inVoice, ...events));
  assert.equal(statusText(INITIAL), S.statusNoTopic);
  assert.equal(statusText(opened), S.statusIdle);
  assert.equal(statusText(play(opened, { type: 'voiceLink', link: 'connecting' })), S.statusConnecting);
  assert.equal(status(), S.statusConnecting);
  assert.equal(status(rtvi('bot-ready')), S.statusOn);
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

test('UI-32: busy shows Thinking… but never over the speaking status', () => {
  const asked: Event = { type: 'turnAsked', turnId: 't1', text: 'why' };
  assert.equal(statusText(play(opened, asked)), S.statusThinking);
  assert.equal(statusText(play(inVoice, asked, own('status', { state: 'speaking', mayInterrupt: true }))), S.statusSpeaking);
});

test('UI-22: the mic says what a tap does', () => {
  assert.deepEqual(micButton(INITIAL), { label: S.micNoTopic, action: 'none' });
  assert.deepEqual(micButton(opened), { label: S.micStart, action: 'start' });
  assert.deepEqual(micButton(inVoice), { label: S.micStop, action: 'stop' });
  assert.deepEqual(micButton(play(inVoice, { type: 'voiceLink', link: 'paused' })), { label: S.micGoOn, action: 'recover' });
});

test('UI-39: a typed turn shows, waits, is answered', () => {
  const asked = play(opened, { type: 'turnAsked', turnId: 'q', text: 'why?' });
  assert.equal(asked.lesson!.busy, true);
  const done = play(asked, { type: 'turnAnswered', turnId: 'q', answer: { text: 'Because.', updatedRevealState: { agenda: ['a', 'b'], coveredAngles: ['b'] } } });
  assert.deepEqual([done.lesson!.busy, done.lesson!.persisted, done.lesson!.log.length], [false, true, 1]);
  assert.deepEqual([done.lesson!.log[0]!.learner, done.lesson!.log[0]!.tutor], ['why?', 'Because.']);
  assert.equal(viewAgenda(done.lesson!.agenda).header, '1 of 2 points covered');
});

test('a failed turn keeps the conversation and the words', () => {
  const failed = play(opened, { type: 'turnAsked', turnId: 'q', text: 'why?' }, { type: 'turnFailed', turnId: 'q' });
  assert.deepEqual([failed.lesson!.busy, failed.lesson!.log[0]!.delivery], [false, 'failed']);
  const opening = play(opened, { type: 'turnAsked', turnId: 'q', text: '' }, { type: 'turnFailed', turnId: 'q' });
  assert.equal(opening.lesson!.openingFailed, true);
});

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

test('UI-33: a turn that was not saved is told', () => {
  const after = play(inVoice, own('turn', { turnId: 'v', userText: 'a', text: 'b', interrupted: false, saved: false }));
  assert.equal(after.toast!.text, S.saveFailed);
});

test('UI-35/36: style of the conversation, else the choice, else the preference, else Socratic', () => {
  assert.equal(styleNow(opened), 'socratic');
  const preferring = play(opened, { type: 'signedIn', me: { ...ADA, preferredStyle: 'lecture' } });
  assert.equal(styleNow(preferring), 'lecture');
  assert.equal(styleNow(play(preferring, { type: 'styleChosen', style: 'conversational' })), 'conversational');
  assert.equal(styleNow(play(preferring, { type: 'conversationLeft' }), 'socratic'), 'socratic');
});

test('UI-6: losing the role closes everything but the gate', () => {
  const gone = play(inVoice, { type: 'signedIn', me: { ...ADA, role: 'rejected' } });
  assert.deepEqual([gone.lesson, gone.voice.link, gone.tab], [null, 'off', 'chat']);
});

test('VOICE-65: resume restores turns, agenda, context and style', () => {
  const { lesson, tab } = play(INITIAL, { type: 'signedIn', me: ADA }, { type: 'conversationResumed', session: {
    sessionId: 's', topicIds: ['t'], topicLabels: { t: 'Tides' }, style: 'lecture', turns: [{ text: 'Hi?' }],
    grounded: { t: { topic: 'Tides', digest: 'The moon.', sources: [] } }, revealState: { t: { agenda: ['a'], coveredAngles: [] } },
  } });
  assert.deepEqual([lesson!.grounded.digest, lesson!.style, lesson!.agenda.points, lesson!.log[0]!.tutor, tab], ['The moon.', 'lecture', ['a'], 'Hi?', 'chat']);
});

test('RTC-13: garbage, foreign labels and unknown types mean nothing', () => {
  for (const frame of ['', '{', 'null', '[]', '{"label":"other","type":"bot-ready"}', envelope('novel', {}, '1'), envelope('server-message', { type: 'novel' }, '1'), envelope('server-message', { type: 'status', state: 'dancing' }, '1')])
    assert.equal(parse(frame), null);
  assert.deepEqual(parse(envelope('user-transcription', { text: 5 }, '1')), { type: 'learner', turnId: '', text: '', final: false, requestId: '' });
});

test('the envelope', () => {
  assert.deepEqual(JSON.parse(envelope('client-message', { t: 'ping' }, 'c1')), { label: 'rtvi-ai', type: 'client-message', id: 'c1', data: { t: 'ping' } });
});

test('back-off is capped', () => assert.deepEqual([0, 1, 2, 3, 4, 9].map(backoffS), [0.5, 1, 2, 4, 8, 8]));

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

test('UI-60: a text per code', () => {
  const codes = ['offline', 'unauthenticated', 'permission-denied', 'resource-exhausted', 'rate', 'not-found', 'invalid-argument', 'failed-precondition', 'unavailable', 'deadline-exceeded', 'internal'];
  assert.equal(new Set(codes.map((code) => errorText(code))).size, codes.length);
  assert.equal(errorText('invalid-argument', 'The title is too long.'), 'The title is too long.');
  assert.equal(errorText('internal', 'Traceback.'), S.errorOther);
  assert.equal(voiceProblemText('NotReadableError'), S.micBusy);
  assert.equal(voiceProblemText('NotFoundError'), S.micMissing);
});

test('documents: types by name, sizes, titles', () => {
  assert.deepEqual(acceptFile('My notes.MD', 5), { mimeType: 'text/markdown', title: 'My notes', problem: '' });
  assert.equal(acceptFile('a.pdf', FILE_BYTES_MAX).problem, '');
  assert.equal(acceptFile('a.pdf', FILE_BYTES_MAX + 1).problem, S.fileSize);
  assert.equal(acceptFile('a.txt', 0).problem, S.fileEmpty);
  assert.equal(acceptFile('a.docx', 5).problem, S.fileType);
  assert.equal(titleOfPaste('\n# The tides\nbody'), 'The tides');
  assert.equal(titleOfPaste('1. Water is wet'), 'Water is wet');
  assert.equal(titleOfPaste('  \n42'), S.pastedTitle);
  assert.ok(titleOfPaste('word '.repeat(80)).length <= 120);
});

test('times: today, this week, this year, before', () => {
  const now = new Date(2026, 10, 30, 18, 0);
  assert.equal(when(new Date(2026, 10, 30, 9, 5).toISOString(), now), '09:05');
  assert.equal(when(new Date(2026, 10, 28, 9, 5).toISOString(), now), 'Sat 09:05');
  assert.equal(when(new Date(2026, 2, 4).toISOString(), now), 'Mar 4');
  assert.equal(when(new Date(2025, 2, 4).toISOString(), now), 'Mar 4, 2025');
  assert.equal(when('nonsense', now), '');
});
