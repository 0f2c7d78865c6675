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
  newsHeader: 'Suggested news topics (choose one or type your own)',
  usageTitle: 'Gemini calls, last 24h',
  usageNone: 'No Gemini usage in the last 24h.',
  noTokens: 'no token data yet',
  newsTopics: 'News topics',
  runPipeline: 'Run news pipeline now',
  addNewsTopic: 'Add news topic',
  all: 'all',
  draft: 'draft',
  active: 'active',
  disabled: 'disabled',
  dailyIngest: 'Daily news ingest',
  dailyIngestNote: 'Gathers news topics every day at 05:00 UTC. “Run now” always works.',
  autoPublish: 'Auto-publish new finds',
  publish: 'Publish',
  hide: 'Hide',
  enable: 'Enable',
  sources: 'Sources',
  runs: 'Pipeline runs',
  runsNone: 'No pipeline runs yet — run one from the toolbar.',
  publishAllTitle: 'Auto-publish new finds?',
  keepDrafts: 'No, keep drafts',
  publishAll: 'Publish all drafts',
};

const folder = new URL('../src/', import.meta.url);
const file = (name: string): string => readFileSync(new URL(name, folder), 'utf8');
const sources = readdirSync(folder).filter((name) => /\.tsx?$/.test(name) && name !== 'strings.ts')
  .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }));
const all = sources.map((source) => source.text).join('\n');
const table = S as unknown as Record<string, unknown>;

// @req UI-1 UI-2 UI-3 UI-4 UI-5 UI-7 UI-8 UI-9 UI-13 UI-14 UI-23 UI-24 UI-25 UI-26 UI-27 UI-28 UI-29 UI-30 UI-31 UI-33 UI-34 UI-35 UI-37 UI-38 UI-40 UI-41 UI-47 UI-49 UI-50 UI-51 UI-52 UI-53 UI-54 UI-55
test('UI-1: every contract string is exactly in the table', () => {
  for (const [key, value] of Object.entries(CONTRACTS)) assert.equal(table[key], value, key);
  assert.equal(`${S.loginIntro}\n\n${S.loginGoogle}`,
    'Pick a topic you actually want to remember, then choose how to talk about it — Socratic, Conversational, or Lecture. Pidjin asks before it tells.\n\nSign in with Google to begin.');
});

// @req UI-13 UI-19 UI-20 UI-29 UI-42 UI-46 UI-48 UI-52 UI-55
test('strings with figures and names', () => {
  assert.equal(S.file('lease.pdf'), 'File: lease.pdf');
  assert.equal(S.agendaCount(2, 5), '2 of 5 points covered');
  assert.equal(S.agendaPart(2), 'Part 2');
  assert.equal(S.interim('ocean'), '“ocean”');
  assert.equal(S.pendingUsers(3), 'Pending approvals (3)');
  assert.equal(S.approvedUsers(0), 'Approved users (0)');
  assert.match(S.deleteBody('Tides'), /permanently deleted/);
  assert.equal(S.publishedDrafts(3), 'Published 3 draft(s).');
  assert.equal(S.themes('space, health'), 'Themes: space, health');
  assert.equal(S.calls(1234), '1,234 calls');
});

// @req UI-1
test('UI-1: the code takes its words from the table and uses every one of them', () => {
  for (const key of Object.keys(table)) assert.match(all, new RegExp(`\\bS\\.${key}\\b`), `${key} is unused`);
  for (const [key, value] of Object.entries(CONTRACTS))
    if (value.includes(' ')) for (const { name, text } of sources) assert.ok(!text.includes(`'${value}'`), `${key} is written out in ${name}`);
  for (const { name, text } of sources)
    if (name.endsWith('.tsx')) assert.doesNotMatch(text, />\s*[A-Z][a-z]+ [a-z]+[^<>{}()]*</, `${name} has words of its own`);
});

// @req UI-45
test('UI-45: nothing ends a session', () => {
  const words = Object.values(table).map((value) => (typeof value === 'function' ? String(value) : value)).join('\n');
  assert.doesNotMatch(words, /End session|Finish/i);
  assert.doesNotMatch(all, /endSession/);
});

// @req CARD-12
test('CARD-12: no audio processing in the browser', () => {
  assert.doesNotMatch(all, /AudioWorklet|audioWorklet|createScriptProcessor|AudioContext/);
  const page = file('index.html');
  assert.match(page, /<audio id="tutor-voice" autoplay playsinline>/);
});

// @req RTC-18
test('RTC-18: the capture constraints', () => {
  const voice = file('microphone.ts');
  for (const wanted of ['channelCount: 1', 'echoCancellation: true', 'noiseSuppression: true', 'autoGainControl: true'])
    assert.ok(voice.includes(wanted), wanted);
  assert.match(voice, /sampleRate: \{ ideal: 16_000 \}/);
  assert.doesNotMatch(voice, /exact|deviceId/);
});

// @req UI-57
test('UI-57: sound is unlocked inside the tap, before anything is awaited', () => {
  const voice = sources.find((source) => source.name === 'voice.ts')!.text;
  const start = voice.slice(voice.indexOf('async start('), voice.indexOf('async recover('));
  assert.ok(start.indexOf('#speaker.unlock()') > 0 && start.indexOf('#speaker.unlock()') < start.indexOf('await'));
});

/** The places of `words` in `text`, which must follow each other. */
function inOrder(text: string, ...words: string[]): void {
  let at = -1;
  for (const word of words) {
    const found = text.indexOf(word, at + 1);
    assert.ok(found > at, `${word} does not follow`);
    at = found;
  }
}

// @req UI-58
test('UI-58: microphone, status, reply toggle and agenda button stand together above the composer', () => {
  const chat = file('chat.tsx');
  const cluster = file('voice-cluster.tsx');
  inOrder(cluster.slice(cluster.indexOf('function VoiceCluster')), '<MicButton', 'status-line', 'setReplySpeech', '<AgendaButton');
  inOrder(chat.slice(chat.indexOf('class="dock"')), '<VoiceCluster', '<Composer');
});

// @req UI-12
test('UI-12: a chosen suggestion grounds at once and brings the button into view', () => {
  inOrder(file('picker.tsx'), 'onChoose={(title) =>', 'void startNews(title)', 'scrollIntoView', 'class="cta"');
});

// @req UI-51 UI-52
test('UI-51: the ingest switch stands above the auto-publish switch', () =>
  inOrder(file('admin-news.tsx'), 'S.dailyIngest}', 'S.dailyIngestNote}', 'S.autoPublish}', 'S.themes('));

// @req UI-15
test('UI-15: the picker leads to the history', () => {
  assert.match(S.historyHint, /History/);
  assert.match(file('picker.tsx'), /chooseTab\('history'\)\}>\{S\.historyHint\}/);
});

// @req UI-6
test('UI-6: the gate has two texts, a way out and nothing else', () => {
  const signin = file('signin.tsx');
  const gate = signin.slice(signin.indexOf('export function Gate'));
  inOrder(gate, 'S.pendingTitle', 'S.rejectedTitle', 'S.pendingBody', 'S.rejectedBody', 'S.signOut');
  assert.notEqual(S.pendingBody, S.rejectedBody);
  assert.equal(gate.match(/<button/g)!.length, 1);
});

// @req UI-42
test('UI-42: nothing is deleted before it was confirmed', () => {
  const history = file('history.tsx');
  assert.equal(history.match(/void remove\(/g)!.length, 1);
  inOrder(history, '<Dialog title={S.deleteTitle}', 'S.deleteBody', 'S.cancel', 'void remove(');
});

// @req UI-43
test('UI-43: the running conversation is marked', () => assert.match(file('history.tsx'), /current && <span class="badge live">\{S\.inProgress\}/));

// @req UI-56
test('UI-56: the tutor is Pidjin, and no mode or note reaches the page', () => {
  assert.equal(S.tutor, 'Pidjin');
  assert.doesNotMatch(all, /\.mode === '(probe|reveal|conclude|explain)|contextUpdate|steering/);
});

// @req UI-44
test('UI-44: nothing in the composer, the microphone or the navigation depends on a conclusion', () =>
  assert.doesNotMatch(all, /conclude/));

// @req UI-61 ASST-18
test('UI-61: scope and instructions can be edited, the base cannot', () => {
  const prompts = file('admin-prompts.tsx');
  assert.match(prompts, /type Key = 'scope' \| 'instructions';/);
  assert.doesNotMatch(prompts, /'base'/);
});

// @req HOME-2 HOME-3 HOME-4 HOME-5 HOME-6 HOME-7 HOME-8 HOME-9
test('HOME: every text of the home page, in order', () => {
  const home = file('home.html').replaceAll('&amp;', '&');
  inOrder(home, 'Stop scrolling the news. Start thinking about it.</h1>',
    'Pidjin talks through what’s happening in the world with you — asking before it tells, so you remember what you learn.',
    '<a class="button" href="/web/">Start a conversation</a>',
    '>Remember</h2>', '>Topics<', '>News<', '>Documents<',
    'One agent, three ways to learn', '>Socratic — the default<', '>Conversational<', '>Lecture<',
    'Most learning apps optimize for your next scroll. This one optimizes for what you remember next week.',
    'Pick your mode. Start talking.', '<a class="button" href="/web/">Try Pidjin</a>',
    '<a href="/SPEC.md">Design & technical spec</a>');
  const between = home.slice(home.indexOf('>Documents<'), home.indexOf('One agent, three ways'));
  assert.equal(between.match(/<section/g)!.length, 1);
});

// @req HOME-13 HOME-14 HOME-15
test('HOME-13: the stable address leads into the folder of this version, and the app takes the address back', () => {
  assert.match(file('enter.ts'), /location\.replace\(`\/web\/\$\{VERSION\}\/index\.html\$\{location\.search\}\$\{location\.hash\}`\)/);
  assert.match(file('enter.html'), /<script src="\/web\/app\.js">/);
  assert.doesNotMatch(file('enter.html'), /http-equiv/);
  const build = file('../build.mjs');
  assert.match(build, /entryPoints: \['src\/app\.tsx', 'src\/index\.html'\], outdir: `dist\/\$\{version\}`/);
  assert.match(file('app.tsx'), /history\.replaceState\(null, '', `\/web\/\$\{location\.hash\}`\)/);
});

test('the pages obey the strict policy: no inline script or style, nothing from elsewhere', () => {
  for (const name of ['index.html', 'enter.html', 'home.html']) {
    assert.doesNotMatch(file(name), /<script>|<style|style="|https?:\/\//, name);
  }
  assert.doesNotMatch(all, /style=\{|https?:\/\/[a-z]/);
});
