import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { S } from '../src/strings.ts';

const CONTRACTS: Record<string, string> = {
  brand: 'Pidjin',
  newTopic: 'New Topic',
  more: 'More',
  signOutMenu: 'Sign out…',
  signOutTitle: 'Sign out?',
  cancel: 'Cancel',
  signOut: 'Sign out',
  chat: 'Chat',
  history: 'History',
  admin: 'Admin',
  loginIntro:
    'Pick a topic you actually want to remember, then choose how to talk about it — Socratic, Conversational, or Lecture. Pidjin asks before it tells.',
  loginGoogle: 'Sign in with Google to begin.',
  pickerTitle: 'What do you want to remember?',
  kindCore: 'Core — learn a concept',
  kindNews: 'News — what’s current',
  kindDocument: 'Document — file or paste',
  typedHint: 'e.g. the physics of ocean currents, or the latest space news',
  chooseFile: 'Choose a file (.pdf, .txt, .md)',
  pasteHint: '…or paste the text here',
  start: 'Start Conversation',
  agenda: 'Agenda',
  agendaNone: 'The agenda appears once the conversation starts',
  agendaComplete: 'Agenda — all points covered',
  close: 'Close',
  micStart: 'Voice mode (keeps listening)',
  micStop: 'Stop voice mode',
  micNoTopic: 'Pick a topic first, then speak your answers',
  replyOn: 'Reply speech: on',
  replyOff: 'Reply speech: off',
  statusNoTopic: 'Pick a topic first — then talk or type.',
  statusConnecting: 'Connecting to voice…',
  statusSpeakingPaused: 'Tutor is speaking — listening resumes when the reply ends.',
  statusSpeaking: 'Tutor is speaking — you may interrupt.',
  statusFormulating: 'Formulating reply…',
  statusListening: 'Listening — speak now…',
  statusOn: 'Voice mode is on — tap the mic to stop.',
  statusIdle: 'Tap the mic to talk, or type below.',
  statusThinking: 'Thinking…',
  saveFailed: 'Could not save that turn — the conversation continues.',
  styleStopped: 'Voice stopped to apply the new style. Tap the mic to continue.',
  style: 'Style',
  socratic: 'Socratic',
  conversational: 'Conversational',
  lecture: 'Lecture',
  styleNext: 'Style changes apply from the next reply.',
  interruptedLine: '(You interrupted the tutor.)',
  groundedContext: 'Grounded context',
  historyTitle: 'Past conversations',
  historyEmpty: 'No past conversations yet.',
  resume: 'Resume',
  delete: 'Delete',
};
/** In the table, not yet on a screen. */
const AHEAD = new Set(['kindNews']);

const folder = new URL('../src/', import.meta.url);
const sources = readdirSync(folder).filter((name) => /\.tsx?$/.test(name) && name !== 'strings.ts')
  .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }));
const all = sources.map((source) => source.text).join('\n');
const table = S as unknown as Record<string, unknown>;

test('UI-1: every contract string is exactly in the table', () => {
  for (const [key, value] of Object.entries(CONTRACTS)) assert.equal(table[key], value, key);
  assert.equal(`${S.loginIntro}\n\n${S.loginGoogle}`,
    'Pick a topic you actually want to remember, then choose how to talk about it — Socratic, Conversational, or Lecture. Pidjin asks before it tells.\n\nSign in with Google to begin.');
});

test('strings with figures and names', () => {
  assert.equal(S.file('lease.pdf'), 'File: lease.pdf');
  assert.equal(S.agendaCount(2, 5), '2 of 5 points covered');
  assert.equal(S.agendaPart(2), 'Part 2');
  assert.equal(S.interim('ocean'), '“ocean”');
  assert.equal(S.pendingUsers(3), 'Pending approvals (3)');
  assert.equal(S.approvedUsers(0), 'Approved users (0)');
  assert.match(S.deleteBody('Tides'), /permanently deleted/);
});

test('UI-1: the code takes its words from the table and uses every one of them', () => {
  for (const key of Object.keys(table)) if (!AHEAD.has(key)) assert.match(all, new RegExp(`\\bS\\.${key}\\b`), `${key} is unused`);
  for (const [key, value] of Object.entries(CONTRACTS))
    if (value.includes(' ')) for (const { name, text } of sources) assert.ok(!text.includes(`'${value}'`), `${key} is written out in ${name}`);
  for (const { name, text } of sources)
    if (name.endsWith('.tsx')) assert.doesNotMatch(text, />\s*[A-Z][a-z]+ [a-z]+[^<>{}()]*</, `${name} has words of its own`);
});

test('UI-45: nothing ends a session', () => {
  const words = Object.values(table).map((value) => (typeof value === 'function' ? String(value) : value)).join('\n');
  assert.doesNotMatch(words, /End session|Finish/i);
  assert.doesNotMatch(all, /endSession/);
});

test('CARD-12: no audio processing in the browser', () => {
  assert.doesNotMatch(all, /AudioWorklet|audioWorklet|createScriptProcessor|AudioContext/);
  const page = readFileSync(new URL('index.html', folder), 'utf8');
  assert.match(page, /<audio id="tutor-voice" autoplay playsinline>/);
});

test('RTC-18: the capture constraints', () => {
  const voice = sources.find((source) => source.name === 'voice.ts')!.text;
  for (const wanted of ['channelCount: 1', 'echoCancellation: true', 'noiseSuppression: true', 'autoGainControl: true'])
    assert.ok(voice.includes(wanted), wanted);
  assert.match(voice, /sampleRate: \{ ideal: 16_000 \}/);
  assert.doesNotMatch(voice, /exact|deviceId/);
});

test('UI-57: sound is unlocked inside the tap, before anything is awaited', () => {
  const voice = sources.find((source) => source.name === 'voice.ts')!.text;
  const start = voice.slice(voice.indexOf('async start('), voice.indexOf('async recover('));
  assert.ok(start.indexOf('#play()') > 0 && start.indexOf('#play()') < start.indexOf('await'));
});
