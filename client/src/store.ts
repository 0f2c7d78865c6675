// What the page shows, and the only way to change it: events into the reducer.
import { computed, effect, signal } from '@preact/signals';
import { familyOf } from './browser.ts';
import { INITIAL, reduce, type Event, type State, type Style, type Toast } from './state.ts';

const TOAST_MS = 6_000;
/** Long texts stay as long as it takes to read them slowly. */
const TOAST_CHARACTER_MS = 75;
const PATIENCE_MS = 8_000;
const DRAFT_KEY = 'pidjin.draft';
export const REPLY_SPEECH_KEY = 'pidjin.replySpeech';

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
  if (after.toast !== before.toast && after.toast !== null) expire(after.toast);
  if (after.lesson?.sessionId !== before.lesson?.sessionId) draft.value = draftOf(after.lesson?.sessionId);
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
export async function patiently<T>(work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => dispatch({ type: 'slowNoticed' }), PATIENCE_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

function expire({ serial, text }: Toast): void {
  setTimeout(() => { if (state.value.toast?.serial === serial) dispatch({ type: 'toastGone' }); }, Math.max(TOAST_MS, TOAST_CHARACTER_MS * text.length));
}

export const toast = (text: string, tone: 'plain' | 'error' = 'plain'): void => dispatch({ type: 'toasted', text, tone });

/** Nothing of the person who leaves stays in this tab. */
export const forgetDraft = (): void => sessionStorage.removeItem(DRAFT_KEY);
