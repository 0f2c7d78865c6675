// The shell around the reducer: performs what the learner asks for, feeds the outcome back as events.
import { computed, signal } from '@preact/signals';
import { call, mayBeSignedIn, read } from './api.ts';
import { CallFailed, errorText } from './errors.ts';
import type { ServerSays } from './protocol.ts';
import {
  admitted, INITIAL, reduce, type Event, type Grounded, type Identity, type Me, type State, type StoredSession, type Style,
  type Tab, type TurnAnswer,
} from './state.ts';
import { S } from './strings.ts';
import { VoiceCall } from './voice.ts';

const TOAST_MS = 6_000;
const REPLY_SPEECH_KEY = 'pidjin.replySpeech';
const SESSION_KEY = 'pidjin.session';

export const state = signal<State>({
  ...INITIAL, online: navigator.onLine, replySpeech: localStorage.getItem(REPLY_SPEECH_KEY) !== 'off',
});
/** Microphone level at the server's gate, 0..1; beside the reducer because it changes five times a second. */
export const level = signal(0);
/** Style chosen in the picker for the next conversation. */
export const nextStyle = signal<Style | null>(null);
export const lesson = computed(() => state.value.lesson);

export function dispatch(event: Event): void {
  const before = state.value;
  const after = reduce(before, event);
  state.value = after;
  if (after.toast !== before.toast && after.toast !== null) expire(after.toast.serial);
}

function expire(serial: number): void {
  setTimeout(() => { if (state.value.toast?.serial === serial) dispatch({ type: 'toastGone' }); }, TOAST_MS);
}

export const toast = (text: string, tone: 'plain' | 'error' = 'plain'): void => dispatch({ type: 'toasted', text, tone });

/** Shows a refusal in plain words; a lost identity or role leads to the sign-in page or the gate. */
export async function report(failure: unknown): Promise<void> {
  if (!(failure instanceof CallFailed)) throw failure;
  if (failure.code === 'unauthenticated') {
    voice().stop();
    dispatch({ type: 'signedOut' });
  }
  toast(errorText(failure.code, failure.message), 'error');
  if (failure.code === 'permission-denied') await refreshMe();
}

// --- who is here -----------------------------------------------------------------------------

export async function refreshMe(): Promise<void> {
  if (!mayBeSignedIn()) return dispatch({ type: 'signedOut' });
  try {
    const me = await read<Me>('me');
    if (!admitted(me)) voice().stop();
    dispatch({ type: 'signedIn', me });
  } catch (failure) {
    if (!(failure instanceof CallFailed)) throw failure;
    if (failure.code === 'unauthenticated') dispatch({ type: 'signedOut' });
    else dispatch({ type: 'serverUnreachable' });
  }
}

export async function boot(): Promise<void> {
  try {
    dispatch({ type: 'identityLearnt', identity: await read<Identity>('identity') });
  } catch (failure) {
    if (!(failure instanceof CallFailed)) throw failure;
    return dispatch({ type: 'serverUnreachable' });
  }
  await refreshMe();
  const kept = sessionStorage.getItem(SESSION_KEY);
  if (kept !== null && admitted(state.value.me)) await resume(kept, true);
}

/** Raises CallFailed. */
export const signUp = (who: { displayName: string; email: string }): Promise<object> => call('signUp', who);

/** Uses up a sign-in link, or an invite with the name and e-mail of whom it let in. Raises CallFailed. */
export const redeem = (code: string, who: { displayName?: string; email?: string } = {}): Promise<object> =>
  call('redeemLink', { code, ...who });

export async function signOut(): Promise<void> {
  voice().stop();
  sessionStorage.removeItem(SESSION_KEY);
  try {
    await call('signOut');
    dispatch({ type: 'signedOut' });
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

export const startDocument = (source: DocumentSource): Promise<void> =>
  start('document', () => call<Grounded>('groundDocument', source));

async function start(kind: 'topic' | 'document', ground: () => Promise<Grounded>): Promise<void> {
  dispatch({ type: 'groundingStarted', kind });
  let grounded: Grounded;
  try {
    grounded = await ground();
  } catch (failure) {
    dispatch({ type: 'groundingEnded' });
    return report(failure);
  }
  if (state.value.grounding === 'no') return;
  const sessionId = newId();
  dispatch({ type: 'conversationOpened', sessionId, grounded, style: nextStyle.value });
  nextStyle.value = null;
  await ask('');
}

export function leave(): void {
  voice().stop();
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
    voice().stop();
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
    const answer = await call<TurnAnswer>('dialogueTurn', {
      sessionId, topicId, userUtteranceSummary: text, ...(persisted || style === null ? {} : { style }),
    });
    if (lesson.value?.sessionId !== sessionId) return;
    dispatch({ type: 'turnAnswered', turnId, answer });
    sessionStorage.setItem(SESSION_KEY, sessionId);
    const chosen = lesson.value.style;
    if (!persisted && chosen !== null) await storeStyle(sessionId, chosen);
  } catch (failure) {
    if (lesson.value?.sessionId === sessionId) dispatch({ type: 'turnFailed', turnId });
    await report(failure);
  }
}

/** What the composer sends: into the running call, else as a typed turn. */
export async function say(text: string): Promise<void> {
  if (!voice().canSend) return ask(text);
  const id = newId();
  dispatch({ type: 'typedOverVoice', turnId: id, text });
  voice().send('send-text', { content: text }, id);
}

export async function sayAgain(turnId: string, text: string): Promise<void> {
  dispatch({ type: 'turnWithdrawn', turnId });
  await say(text);
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
      if (link === 'off') level.value = 0;
      dispatch({ type: 'voiceLink', link });
    },
    heard: voiceSaid,
    failed: (problem, failure) => {
      dispatch({ type: 'voiceFailed', problem });
      if (failure !== undefined) void report(failure);
    },
  });
  return only;
}

function voiceSaid(message: ServerSays): void {
  switch (message.type) {
    case 'activity':
      level.value = message.sending ? message.level : 0;
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
  if (action === 'stop') return voice().stop();
  voice().mute(!state.value.replySpeech);
  if (action === 'recover') return void voice().recover();
  void voice().start({
    sessionId: current.sessionId, topicId: current.grounded.topicId, title: current.grounded.topic,
    ...(current.style === null ? {} : { style: current.style }),
  });
}

export function setReplySpeech(on: boolean): void {
  localStorage.setItem(REPLY_SPEECH_KEY, on ? 'on' : 'off');
  dispatch({ type: 'replySpeechSet', on });
  voice().mute(!on);
  voice().send('client-message', { t: 'reply-speech', d: { on } });
}

addEventListener('online', () => {
  dispatch({ type: 'onlineChanged', online: true });
  if (state.value.door === 'unreachable') void boot();
});
addEventListener('offline', () => dispatch({ type: 'onlineChanged', online: false }));
