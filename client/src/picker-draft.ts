// What is being chosen in the picker and not begun yet. No I/O.
import { computed, signal, type Signal } from '@preact/signals';
import { acceptFile, firstKind, type Kind } from './documents.ts';
import { dispatch, nextStyle, state } from './store.ts';

const chosenKind = signal<Kind | null>(null);
export const kind = computed<Kind>(() => chosenKind.value ?? firstKind(state.value.identity?.localTutor === true));
export const topic = signal('');
export const news = signal('');
export const file = signal<File | null>(null);
export const paste = signal('');
/** Why what was chosen cannot be used; empty for nothing. */
export const problem = signal('');

/** What was wrong with another source is said no longer. */
function changed(): void {
  problem.value = '';
  dispatch({ type: 'sourceChanged' });
}

export function chooseKind(next: Kind): void {
  chosenKind.value = next;
  changed();
}

export function write(draft: Signal<string>, text: string): void {
  draft.value = text;
  changed();
}

export function removeFile(): void {
  file.value = null;
  changed();
}

/** A file that cannot be read is never kept. */
export function chooseFile(chosen: File | undefined): void {
  if (chosen === undefined) return;
  changed();
  const verdict = acceptFile(chosen.name, chosen.size);
  problem.value = verdict.problem;
  file.value = verdict.problem === '' ? chosen : null;
}

export function ready(): boolean {
  if (kind.value === 'core') return topic.value.trim() !== '';
  if (kind.value === 'news') return news.value.trim() !== '';
  return file.value !== null || paste.value.trim() !== '';
}

/** An empty picker; the kind stays. */
export function clearPicker(): void {
  topic.value = news.value = paste.value = '';
  removeFile();
  nextStyle.value = null;
}
