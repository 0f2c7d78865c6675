// Conversations: begun, gone on with, left, and the turns that are typed.
import { call, read } from './api.ts';
import { reader, silence, voice } from './calls.ts';
import { CallFailed, failureText } from './errors.ts';
import { lastWords } from './log.ts';
import { tellTabs } from './other-tabs.ts';
import { report, reportOfLesson } from './people.ts';
import { clearPicker } from './picker-draft.ts';
import type { Grounded, Grounding, StoredSession, Style, Tab, TurnAnswer } from './state.ts';
import { dispatch, lesson, nextStyle, patiently, state, toast } from './store.ts';
import { S } from './strings.ts';

/** The conversation of this tab, for a reload. */
export const SESSION_KEY = 'pidjin.session';

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
  clearPicker();
  dispatch({ type: 'tabChosen', tab: 'chat' });
}

export async function resume(sessionId: string, quietly = false): Promise<void> {
  if (sessionId === lesson.value?.sessionId) return dispatch({ type: 'tabChosen', tab: 'chat' });
  try {
    const session = await read<StoredSession>(`sessions/${encodeURIComponent(sessionId)}`);
    if (session.endedAt) await call('reopenSession', { sessionId });
    silence();
    dispatch({ type: 'conversationResumed', session: { ...session, sessionId }, ...(quietly ? { tab: state.value.tab } : {}) });
    sessionStorage.setItem(SESSION_KEY, sessionId);
    await readTopic();
  } catch (failure) {
    sessionStorage.removeItem(SESSION_KEY);
    if (!quietly) await report(failure);
  }
}

/** A stored conversation has no time of gathering, and its news may be fresher by now: the topic knows both. Where it
    cannot be had, the conversation's own snapshot is shown without a time. */
async function readTopic(): Promise<void> {
  const topicId = lesson.value?.grounded.topicId;
  if (!topicId) return;
  try {
    dispatch({ type: 'topicRead', topic: await read<Grounded & { kind: string }>(`topics/${encodeURIComponent(topicId)}`) });
  } catch (failure) {
    if (!(failure instanceof CallFailed)) throw failure;
  }
}

/** Failures of a look that nobody asked for which have to be told; the others pass by themselves. */
const OF_THE_CONVERSATION = new Set(['not-found', 'failed-precondition', 'unauthenticated', 'permission-denied']);

/** What was said in another window is shown here too; a conversation that was deleted there is left. False when it is
    not on the page any more. */
export async function refresh(): Promise<boolean> {
  const current = lesson.value;
  if (current === null || !current.persisted) return current !== null;
  const { sessionId } = current;
  try {
    const session = await read<StoredSession>(`sessions/${encodeURIComponent(sessionId)}`);
    dispatch({ type: 'conversationRead', session: { ...session, sessionId } });
  } catch (failure) {
    if (!(failure instanceof CallFailed)) throw failure;
    if (OF_THE_CONVERSATION.has(failure.code) && lesson.value?.sessionId === sessionId) await reportOfLesson(failure);
  }
  return lesson.value?.sessionId === sessionId;
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
    tellTabs({ type: 'said', sessionId });
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
