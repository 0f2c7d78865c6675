// What the assistant is there for and how it speaks: the two texts that admins may change.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { report, toast } from './actions.ts';
import { read, write } from './api.ts';
import { S } from './strings.ts';

type Key = 'scope' | 'instructions';
const TEXT_MAX = 8_000;
const FIELDS: readonly [Key, string, string][] = [
  ['scope', S.promptScope, S.promptScopeNote], ['instructions', S.promptInstructions, S.promptInstructionsNote],
];
const texts = signal<Record<Key, string> | null>(null);
const path = (key: Key): string => `v1/admin/ai/prompts/${key}`;

async function load(): Promise<void> {
  try {
    const [scope, instructions] = await Promise.all(FIELDS.map(([key]) => read<{ text: string }>(path(key))));
    texts.value = { scope: scope!.text, instructions: instructions!.text };
  } catch (failure) {
    await report(failure);
  }
}

async function save(): Promise<void> {
  if (texts.value === null) return;
  try {
    for (const [key] of FIELDS) await write('PUT', path(key), { text: texts.value[key] });
    toast(S.saved);
  } catch (failure) {
    await report(failure);
  }
}

export function Prompts() {
  useEffect(() => { void load(); }, []);
  const known = texts.value;
  return (
    <form class="group" aria-labelledby="prompts-title" onSubmit={(event) => { event.preventDefault(); void save(); }}>
      <h1 id="prompts-title">{S.promptsTitle}</h1>
      {known === null && <p class="hint" role="status">{S.loading}</p>}
      {known !== null && FIELDS.map(([key, label, note]) => (
        <label key={key} class="field">{label}<small class="hint">{note}</small>
          <textarea rows={6} maxLength={TEXT_MAX} value={known[key]}
            onInput={(event) => { texts.value = { ...known, [key]: event.currentTarget.value }; }} />
        </label>
      ))}
      {known !== null && <div class="actions"><button class="button">{S.save}</button></div>}
    </form>
  );
}
