// The shell around the reducer: performs what the learner asks for, feeds the outcome back as events.
import { computed, effect, signal } from '@preact/signals';
import { call, clockAheadMs, mayBeSignedIn, read } from './api.ts';
import { familyOf } from './browser.ts';
import { span } from './clock.ts';
import { CallFailed, errorText, failureText } from './errors.ts';
import { Hold } from './hold.ts';
import { lastWords } from './log.ts';
import { onTold, tellTabs } from './other-tabs.ts';
import type { ServerSays } from './protocol.ts';
import { Reader } from './read-aloud.ts';
import { BrowserRecognition } from './recognition.ts';
import {
  admitted, INITIAL, reduce, type Event, type Grounded, type Grounding, type Identity, type Me, type State, type StoredSession,
  type Style, type Tab, type TurnAnswer,
} from './state.ts';
import { S } from './strings.ts';
import { VoiceCall } from './voice.ts';

const TOAST_MS = 6_000;
const PATIENCE_MS = 8_000;
const DRAFT_KEY = 'pidjin.draft';
const REPLY_SPEECH_KEY = 'pidjin.replySpeech';
const SESSION_KEY = 'pidjin.session';

export const state = signal<State>({
  ...INITIAL, online: navigator.onLine, replySpeech: localStorage.getItem(REPLY_SPEECH_KEY) !== 'off',
});
/** Microphone level at the server's gate, 0..1; beside the reducer because it changes five times a second. */
export const level = signal(0);
/** Whether sound leaves this device right now; beside the reducer for the same reason. */
export const sending = signal(false);
/** What is typed and not sent; outlives a reload and a sign-in that ran out. */
export const draft = signal('');
export const family = familyOf(navigator.userAgent, navigator.maxTouchPoints);
/** Style chosen in the picker for the next conversation. */
export const nextStyle = signal<Style | null>(null);
export const lesson = computed(() => state.value.lesson);

export function dispatch(event: Event): void {
  const before = state.value;
  const after = reduce(before, event);
  state.value = after;
  if (after.toast !== before.toast && after.toast !== null) expire(after.toast.serial);
  if (after.lesson?.sessionId !== before.lesson?.sessionId) draft.value = draftOf(after.lesson?.sessionId);
  recognition?.hold(after.lesson?.busy === true || after.reading);
}

function draftOf(sessionId: string | undefined): string {
  const [owner, text] = JSON.parse(sessionStorage.getItem(DRAFT_KEY) ?? '["",""]') as [string, string];
  return owner === sessionId ? text : '';
}

effect(() => {
  const text = draft.value;
  const owner = state.peek().lesson?.sessionId;
  if (owner !== undefined) sessionStorage.setItem(DRAFT_KEY, JSON.stringify([owner, text]));
});

/** Runs `work`; when it takes long the page says so. */
async function patiently<T>(work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => dispatch({ type: 'slowNoticed' }), PATIENCE_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

function expire(serial: number): void {
  setTimeout(() => { if (state.value.toast?.serial === serial) dispatch({ type: 'toastGone' }); }, TOAST_MS);
}

export const toast = (text: string, tone: 'plain' | 'error' = 'plain'): void => dispatch({ type: 'toasted', text, tone });

/** Shows a refusal in plain words; a lost identity or role leads to the sign-in page or the gate. */
export async function report(failure: unknown): Promise<void> {
  if (!(failure instanceof CallFailed)) throw failure;
  if (failure.code === 'unauthenticated') signInExpired();
  toast(failureText(failure, new Date()), 'error');
  if (failure.code === 'permission-denied') await refreshMe();
}

/** The same for the conversation on the page, which is left when it is there no more. */
async function reportOfLesson(failure: unknown): Promise<void> {
  const gone = failure instanceof CallFailed
    && (failure.reason === 'deleted' || (failure.code === 'not-found' && lesson.value?.persisted === true));
  if (!gone) return report(failure);
  leave();
  toast(S.deletedElsewhere, 'error');
}

/** Nobody is signed in any more, by no choice of theirs: what they were doing waits for them. */
function signInExpired(): void {
  silence();
  dispatch({ type: 'signInExpired' });
}

/** Everything that sounds or listens ends. */
function silence(): void {
  voice().stop();
  recognition?.stop();
  reader().stop();
}

// --- who is here -----------------------------------------------------------------------------

export async function refreshMe(): Promise<void> {
  if (!mayBeSignedIn()) return signInExpired();
  try {
    const me = await read<Me>('me');
    if (!admitted(me)) silence();
    dispatch({ type: 'signedIn', me });
  } catch (failure) {
    if (!(failure instanceof CallFailed)) throw failure;
    if (failure.code === 'unauthenticated') signInExpired();
    else dispatch({ type: 'serverUnreachable' });
  }
}

/** After a sign-in: back to the conversation that was on this page, if it is theirs. */
export async function enter(): Promise<void> {
  await refreshMe();
  if (admitted(state.value.me)) tellTabs({ type: 'signed-in' });
  const kept = sessionStorage.getItem(SESSION_KEY);
  if (kept !== null && lesson.value === null && admitted(state.value.me)) await resume(kept, true);
}

export async function boot(): Promise<void> {
  if (!await learnIdentity()) return dispatch({ type: 'serverUnreachable' });
  await enter();
  if (clockAheadMs === null) return;
  const { count, unit } = span(clockAheadMs);
  toast(S.clockWrong(count, unit, clockAheadMs > 0));
}

/** What this server is; a server of another version than the page asks for a reload. False when out of reach. */
async function learnIdentity(): Promise<boolean> {
  try {
    dispatch({ type: 'identityLearnt', identity: await read<Identity>('identity') });
    return true;
  } catch (failure) {
    if (failure instanceof CallFailed) return false;
    throw failure;
  }
}

onTold((told) => {
  const { me, door } = state.value;
  if (told.type === 'signed-in' && me === null && door === 'signin') void enter();
  if (told.type === 'signed-out' && me !== null) leaveBrowser();
  if (told.type === 'deleted' && told.sessionId === lesson.value?.sessionId) {
    leave();
    toast(S.deletedElsewhere);
  }
});

function leaveBrowser(): void {
  silence();
  sessionStorage.removeItem(SESSION_KEY);
  sessionStorage.removeItem(DRAFT_KEY);
  dispatch({ type: 'signedOut' });
}

/** Raises CallFailed. */
export const signUp = (who: { displayName: string; email: string }): Promise<object> => call('signUp', who);

/** Uses up a sign-in link, or an invite with the name and e-mail of whom it let in. Raises CallFailed. */
export const redeem = (code: string, who: { displayName?: string; email?: string } = {}): Promise<object> =>
  call('redeemLink', { code, ...who });

export async function signOut(): Promise<void> {
  silence();
  try {
    await call('signOut');
    leaveBrowser();
    tellTabs({ type: 'signed-out' });
  } catch (failure) {
    await report(failure);
  }
}

// --- conversations ---------------------------------------------------------------------------

/** A random id also where `crypto.randomUUID` is missing (pages that are not a secure context). */
export function newId(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export type DocumentSource = { title: string } & ({ text: string } | { mimeType: string; base64: string });

export const startTopic = (topic: string): Promise<void> =>
  start('topic', () => call<Grounded>('groundTopic', { topic, kind: 'core' }));

export const startNews = (topic: string): Promise<void> =>
  start('news', () => call<Grounded>('groundTopic', { topic, kind: 'news' }));

export const startDocument = (source: DocumentSource): Promise<void> =>
  start('document', () => call<Grounded>('groundDocument', source));

async function start(kind: Grounding, ground: () => Promise<Grounded>): Promise<void> {
  if (state.value.grounding !== 'no') return;
  if (state.value.replySpeech) reader().unlock();
  dispatch({ type: 'groundingStarted', kind });
  let grounded: Grounded;
  try {
    grounded = await patiently(ground());
  } catch (failure) {
    if (!(failure instanceof CallFailed)) throw failure;
    dispatch({ type: 'groundingEnded', problem: failureText(failure, new Date()) });
    if (failure.code === 'unauthenticated' || failure.code === 'permission-denied') await report(failure);
    return;
  }
  if (state.value.grounding === 'no') return;
  const sessionId = newId();
  dispatch({ type: 'conversationOpened', sessionId, grounded, style: nextStyle.value });
  nextStyle.value = null;
  await ask('');
}

export function leave(): void {
  silence();
  sessionStorage.removeItem(SESSION_KEY);
  nextStyle.value = null;
  dispatch({ type: 'conversationLeft' });
}

export function newTopic(): void {
  leave();
  dispatch({ type: 'tabChosen', tab: 'chat' });
}

export async function resume(sessionId: string, quietly = false): Promise<void> {
  if (sessionId === lesson.value?.sessionId) return dispatch({ type: 'tabChosen', tab: 'chat' });
  try {
    const session = await read<StoredSession>(`sessions/${encodeURIComponent(sessionId)}`);
    if (session.endedAt) await call('reopenSession', { sessionId });
    silence();
    dispatch({ type: 'conversationResumed', session: { ...session, sessionId } });
    sessionStorage.setItem(SESSION_KEY, sessionId);
  } catch (failure) {
    sessionStorage.removeItem(SESSION_KEY);
    if (!quietly) await report(failure);
  }
}

let asked = 0;

/** One typed turn over HTTP; an empty text asks for the opening turn. */
export async function ask(text: string): Promise<void> {
  const current = lesson.value;
  if (current === null || current.busy) return;
  const { sessionId, grounded: { topicId }, style, persisted } = current;
  const turnId = `typed-${++asked}`;
  dispatch({ type: 'turnAsked', turnId, text });
  try {
    const answer = await patiently(call<TurnAnswer>('dialogueTurn', {
      sessionId, topicId, userUtteranceSummary: text, ...(persisted || style === null ? {} : { style }),
    }));
    if (lesson.value?.sessionId !== sessionId) return;
    dispatch({ type: 'turnAnswered', turnId, answer });
    if (state.value.replySpeech && !voice().running) void reader().read(answer.text).catch(report);
    sessionStorage.setItem(SESSION_KEY, sessionId);
    const chosen = lesson.value.style;
    if (!persisted && chosen !== null) await storeStyle(sessionId, chosen);
  } catch (failure) {
    if (lesson.value?.sessionId !== sessionId) return report(failure);
    dispatch({ type: 'turnFailed', turnId });
    await reportOfLesson(failure);
  }
}

/** What the composer sends: into the running call, else as a typed turn. Call inside the tap. */
export async function say(text: string): Promise<void> {
  reader().stop();
  if (!voice().canSend) {
    if (state.value.replySpeech) reader().unlock();
    return ask(text);
  }
  const id = newId();
  dispatch({ type: 'typedOverVoice', turnId: id, text });
  voice().send('send-text', { content: text }, id);
}

export async function sayAgain(turnId: string, text: string): Promise<void> {
  dispatch({ type: 'turnWithdrawn', turnId });
  await say(text);
}

/** Asks the tutor to go on where it was cut off. */
export const goOn = (heard: string): Promise<void> => say(S.goOnAsk(lastWords(heard)));

/** A reply of the running call once more, at `rate` times its speed. */
export function replay(turnId: string, rate = 1): void {
  voice().send('client-message', { t: 'replay', d: { turnId, rate } });
}

async function storeStyle(sessionId: string, style: Style): Promise<void> {
  try {
    await call('setSessionStyle', { sessionId, style });
  } catch (failure) {
    await report(failure);
  }
}

export async function chooseStyle(style: Style): Promise<void> {
  const current = lesson.value;
  if (current === null) {
    nextStyle.value = style;
    return;
  }
  dispatch({ type: 'styleChosen', style });
  if (voice().running) {
    if (voice().send('client-message', { t: 'style', d: { style } })) return;
    voice().stop();
    toast(S.styleStopped);
  } else toast(S.styleNext);
  if (current.persisted) await storeStyle(current.sessionId, style);
}

export async function preferStyle(style: Style): Promise<void> {
  try {
    await call('setPreferredStyle', { style });
    dispatch({ type: 'preferenceStored', style });
  } catch (failure) {
    await report(failure);
  }
}

export function chooseTab(tab: Tab): void {
  dispatch({ type: 'tabChosen', tab });
}

// --- voice -----------------------------------------------------------------------------------

let only: VoiceCall | null = null;

/** The page's one call; made on first use because its <audio> element must exist. */
export function voice(): VoiceCall {
  only ??= new VoiceCall(document.querySelector<HTMLAudioElement>('#tutor-voice')!, {
    link: (link) => {
      if (link !== 'connected') {
        level.value = 0;
        sending.value = false;
        hold.released();
      }
      if (link === 'reconnecting') void learnIdentity();
      dispatch({ type: 'voiceLink', link });
    },
    heard: voiceSaid,
    failed: (problem, failure) => {
      dispatch({ type: 'voiceFailed', problem });
      if (failure !== undefined) void reportOfLesson(failure);
    },
  });
  return only;
}

let aloud: Reader | null = null;

/** The page's one reader of typed replies. */
export function reader(): Reader {
  aloud ??= new Reader(document.querySelector<HTMLAudioElement>('#reader')!, {
    reading: (on) => { if (on !== state.value.reading) dispatch({ type: 'reading', on }); },
    fellBack: () => toast(S.readAloudByBrowser),
    failed: () => toast(S.readAloudFailed),
  });
  return aloud;
}

let recognition: BrowserRecognition | null = null;

/** The browser's own speech recognition in place of a call. Call inside the tap. */
export function dictate(): void {
  recognition ??= new BrowserRecognition({
    interim: (words) => dispatch({ type: 'dictated', words }),
    sentence: (words) => void ask(words),
    failed: (problem) => dispatch({ type: 'voiceFailed', problem }),
  });
  reader().stop();
  if (state.value.replySpeech) reader().unlock();
  dispatch({ type: 'dictating', on: true });
  toast(S.dictationNote);
  recognition.start();
}

function voiceSaid(message: ServerSays): void {
  switch (message.type) {
    case 'activity':
      level.value = message.sending ? message.level : 0;
      sending.value = message.sending;
      return;
    case 'notice':
      return toast(message.code === 'silent' ? S.micSilent : message.text);
    case 'error':
      return toast(message.text || errorText(message.code), 'error');
    case 'closed':
      return voiceClosed(message.reason, message.text);
    case 'turn':
      if (message.saved && lesson.value !== null) sessionStorage.setItem(SESSION_KEY, lesson.value.sessionId);
      break;
  }
  dispatch({ type: 'heard', message });
}

/** Reasons that a notice has already explained in more detail. */
const EXPLAINED = new Set(['style', 'live-unavailable']);

function voiceClosed(reason: string, text: string): void {
  if (state.value.toast === null || !EXPLAINED.has(reason)) toast(text || S.voiceEnded);
  if (reason === 'access' || reason === 'signed-out') void refreshMe();
}

/** Call inside the tap. */
export function tapMic(action: 'start' | 'stop' | 'recover' | 'none'): void {
  const current = lesson.value;
  if (current === null || action === 'none') return;
  if (action === 'stop') return stopVoice();
  reader().stop();
  voice().mute(!state.value.replySpeech);
  if (action === 'recover') return void voice().recover();
  void voice().start({
    sessionId: current.sessionId, topicId: current.grounded.topicId, title: current.grounded.topic,
    ...(current.style === null ? {} : { style: current.style }),
  });
}

function stopVoice(): void {
  voice().stop();
  recognition?.stop();
  dispatch({ type: 'dictating', on: false });
}

export function setReplySpeech(on: boolean): void {
  if (on) reader().unlock();
  else reader().stop();
  localStorage.setItem(REPLY_SPEECH_KEY, on ? 'on' : 'off');
  dispatch({ type: 'replySpeechSet', on });
  voice().mute(!on);
  voice().send('client-message', { t: 'reply-speech', d: { on } });
}

// --- push-to-talk ----------------------------------------------------------------------------

const hold = new Hold(
  () => state.value.voice.link === 'connected' && state.value.voice.features.includes('ptt') && document.querySelector('dialog[open]') === null,
  (down) => {
    voice().send('client-message', { t: 'ptt', d: { down } });
    voice().mute(down || !state.value.replySpeech);
    dispatch({ type: 'holding', on: down });
  },
);

const inField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('textarea, select, input:not([type=radio], [type=checkbox])'));

addEventListener('keydown', (event) => {
  if (event.code !== 'Space') return void hold.released();
  const plain = !event.altKey && !event.ctrlKey && !event.metaKey && !event.isComposing;
  if (plain && !inField(event.target) && hold.pressed(event.repeat)) event.preventDefault();
});
addEventListener('keyup', (event) => { if (event.code === 'Space' && hold.released()) event.preventDefault(); });
addEventListener('blur', () => hold.released());

// --- the connection ----------------------------------------------------------------------------

addEventListener('online', () => {
  dispatch({ type: 'onlineChanged', online: true });
  if (state.value.door === 'unreachable') void boot();
});
addEventListener('offline', () => dispatch({ type: 'onlineChanged', online: false }));
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') hold.released();
  else if (state.value.me !== null) void learnIdentity();
});
