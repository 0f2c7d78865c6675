// Choosing what to remember: a concept in words, or a document as file or paste.
import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { chooseStyle, chooseTab, nextStyle, startDocument, startTopic, state } from './actions.ts';
import { Icon } from './icons.tsx';
import { IconButton, StyleChips } from './parts.tsx';
import { styleNow } from './state.ts';
import { S } from './strings.ts';
import { acceptFile, DOCUMENT_CHARS_MAX, titleOfPaste, TOPIC_CHARS_MAX } from './documents.ts';

type Kind = 'core' | 'document';
const kind = signal<Kind>('core');
const topic = signal('');
const file = signal<File | null>(null);
const paste = signal('');
const problem = signal('');
const dragging = signal(false);

const KINDS: readonly [Kind, string][] = [['core', S.kindCore], ['document', S.kindDocument]];

function choose(chosen: File | undefined): void {
  if (chosen === undefined) return;
  const verdict = acceptFile(chosen.name, chosen.size);
  problem.value = verdict.problem;
  file.value = verdict.problem === '' ? chosen : null;
}

function base64Of(source: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error ?? new DOMException('unreadable', 'NotReadableError'));
    reader.readAsDataURL(source);
  });
}

function ready(): boolean {
  if (kind.value === 'core') return topic.value.trim() !== '';
  return file.value !== null || paste.value.trim() !== '';
}

async function begin(): Promise<void> {
  if (!ready() || state.value.grounding !== 'no') return;
  problem.value = '';
  if (kind.value === 'core') await startTopic(topic.value.trim());
  else if (file.value !== null) {
    let base64: string;
    try {
      base64 = await base64Of(file.value);
    } catch (failure) {
      if (!(failure instanceof DOMException)) throw failure;
      problem.value = S.fileUnreadable;
      return;
    }
    const { mimeType, title } = acceptFile(file.value.name, file.value.size);
    await startDocument({ title, mimeType, base64 });
  } else if (paste.value.length > DOCUMENT_CHARS_MAX) problem.value = S.pasteSize(paste.value.length - DOCUMENT_CHARS_MAX);
  else await startDocument({ title: titleOfPaste(paste.value), text: paste.value });
  if (state.value.lesson === null) return;
  topic.value = paste.value = '';
  file.value = null;
}

function DocumentCard() {
  const input = useRef<HTMLInputElement>(null);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    dragging.value = false;
    choose(event.dataTransfer?.files[0]);
  };
  return (
    <div class="document" data-dragging={dragging.value}
      onDragOver={(event) => { event.preventDefault(); dragging.value = true; }}
      onDragLeave={() => { dragging.value = false; }} onDrop={drop}>
      {file.value === null
        ? <label class="drop">
            <Icon name="upload" />
            <span class="drop-label">{S.chooseFile}</span>
            <span class="hint drop-hint">{S.dropFile}</span>
            <input ref={input} class="cover" type="file" accept=".pdf,.txt,.md,application/pdf,text/plain,text/markdown"
              onChange={(event) => { choose(event.currentTarget.files?.[0]); event.currentTarget.value = ''; }} />
          </label>
        : <div class="chosen">
            <Icon name="file" /><span class="chosen-name">{S.file(file.value.name)}</span>
            <IconButton icon="close" label={S.removeFile} onClick={() => { file.value = null; }} />
          </div>}
      {file.value === null
        ? <textarea class="paste" rows={6} aria-label={S.pasteHint} placeholder={S.pasteHint} value={paste.value}
            onInput={(event) => { paste.value = event.currentTarget.value; problem.value = ''; }} />
        : <p class="hint">{S.pasteInstead}</p>}
    </div>
  );
}

export function Picker() {
  const { grounding } = state.value;
  const busy = grounding !== 'no';
  return (
    <section class="picker" aria-labelledby="picker-title">
      <form class="picker-form" aria-busy={busy} onSubmit={(event) => { event.preventDefault(); void begin(); }}>
        <h1 id="picker-title">{S.pickerTitle}</h1>
        <div class="kinds" role="group" aria-label={S.kinds}>
          {KINDS.map(([value, label]) => (
            <button key={value} type="button" class="chip" aria-pressed={kind.value === value} disabled={busy}
              onClick={() => { kind.value = value; problem.value = ''; }}>{label}</button>
          ))}
        </div>
        {kind.value === 'core'
          ? <textarea class="topic" rows={2} maxLength={TOPIC_CHARS_MAX} aria-label={S.topic} placeholder={S.typedHint} value={topic.value} readOnly={busy}
              onInput={(event) => { topic.value = event.currentTarget.value; }}
              onKeyDown={(event) => { if (event.key === 'Enter' && !event.isComposing) { event.preventDefault(); void begin(); } }} />
          : <DocumentCard />}
        {problem.value !== '' && <p class="problem" role="alert">{problem.value}</p>}
        <StyleChips value={styleNow(state.value, nextStyle.value)} onChoose={(style) => void chooseStyle(style)} />
        <div class="cta">
          <button class="button wide" disabled={busy || !ready()} aria-busy={busy}>{S.start}</button>
          <div class="progress" role="status">
            {busy && <><progress aria-label={S.start} /><span>{grounding === 'topic' ? S.groundingTopic : S.groundingDocument}</span></>}
          </div>
        </div>
        <p class="hint picker-hint">
          <button type="button" class="text-button" onClick={() => chooseTab('history')}>{S.historyHint}</button>
        </p>
        {state.value.identity?.localTutor && <p class="hint local-note">{S.localTutor}</p>}
      </form>
    </section>
  );
}
