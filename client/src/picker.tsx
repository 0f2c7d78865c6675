// Choosing what to remember: a concept in words, news, or a document as file or paste.
import { signal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { chooseStyle, chooseTab, family, nextStyle, startDocument, startNews, startTopic, state } from './actions.ts';
import { Icon } from './icons.tsx';
import { NewsSuggestions } from './news-suggestions.tsx';
import { IconButton, StyleChips } from './parts.tsx';
import { chooseFile, chooseKind, clearPicker, file, kind, news, paste, problem, ready, removeFile, topic, write } from './picker-draft.ts';
import { styleNow } from './state.ts';
import { S } from './strings.ts';
import { VoiceCluster } from './voice-cluster.tsx';
import { acceptFile, DOCUMENT_CHARS_MAX, titleOfPaste, TOPIC_CHARS_MAX, type Kind } from './documents.ts';

const dragging = signal(false);

const KINDS: readonly [Kind, string][] = [['core', S.kindCore], ['news', S.kindNews], ['document', S.kindDocument]];
const PROGRESS = { topic: S.groundingTopic, news: S.groundingNews, document: S.groundingDocument } as const;

function base64Of(source: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error ?? new DOMException('unreadable', 'NotReadableError'));
    reader.readAsDataURL(source);
  });
}

async function begin(): Promise<void> {
  if (!ready() || state.value.grounding !== 'no') return;
  problem.value = '';
  if (kind.value === 'core') await startTopic(topic.value.trim());
  else if (kind.value === 'news') await startNews(news.value.trim());
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
  if (state.value.lesson !== null) clearPicker();
}

function DocumentCard() {
  const input = useRef<HTMLInputElement>(null);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    dragging.value = false;
    chooseFile(event.dataTransfer?.files[0]);
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
              onChange={(event) => { chooseFile(event.currentTarget.files?.[0]); event.currentTarget.value = ''; }} />
          </label>
        : <div class="chosen">
            <Icon name="file" /><span class="chosen-name">{S.file(file.value.name)}</span>
            <IconButton icon="close" label={S.removeFile} onClick={removeFile} />
          </div>}
      {file.value === null
        ? <textarea class="paste" rows={6} aria-label={S.pasteHint} placeholder={S.pasteHint} value={paste.value}
            onInput={(event) => write(paste, event.currentTarget.value)} />
        : <p class="hint">{S.pasteInstead}</p>}
    </div>
  );
}

const CALM = matchMedia('(prefers-reduced-motion: reduce)');

const TypedTopic = ({ typed, label, busy }: { typed: Signal<string>; label: string; busy: boolean }) => (
  <textarea class="topic" rows={2} maxLength={TOPIC_CHARS_MAX} aria-label={label} placeholder={S.typedHint} value={typed.value} readOnly={busy}
    onInput={(event) => write(typed, event.currentTarget.value)}
    onKeyDown={(event) => { if (event.key === 'Enter' && !event.isComposing) { event.preventDefault(); void begin(); } }} />
);

export function Picker() {
  const { grounding, groundingProblem, slow } = state.value;
  const busy = grounding !== 'no';
  const cta = useRef<HTMLDivElement>(null);
  const trouble = busy ? '' : problem.value || groundingProblem || '';
  const told = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    told.current?.scrollIntoView({ block: 'nearest' });
    told.current?.focus({ preventScroll: true });
  }, [trouble]);
  return (
    <div class="choose">
      <section class="picker" aria-labelledby="picker-title">
        <form class="picker-form" aria-busy={busy} onSubmit={(event) => { event.preventDefault(); void begin(); }}>
          <h1 id="picker-title">{S.pickerTitle}</h1>
          <div class="kinds" role="group" aria-label={S.kinds}>
            {KINDS.map(([value, label]) => (
              <button key={value} type="button" class="chip" aria-pressed={kind.value === value} disabled={busy}
                onClick={() => chooseKind(value)}>{label}</button>
            ))}
          </div>
          {kind.value === 'core' && (
            <>
              {state.value.identity?.localTutor && <p class="note"><Icon name="info" />{S.coreLocal}</p>}
              <TypedTopic typed={topic} label={S.topic} busy={busy} />
            </>
          )}
          {kind.value === 'news' && (
            <>
              {state.value.identity?.localTutor && <p class="note"><Icon name="info" />{S.newsLocal}</p>}
              <TypedTopic typed={news} label={S.newsTopic} busy={busy} />
              <NewsSuggestions busy={busy} onChoose={(title) => {
                void startNews(title);
                cta.current!.scrollIntoView({ block: 'end', behavior: CALM.matches ? 'auto' : 'smooth' });
              }} />
            </>
          )}
          {kind.value === 'document' && <DocumentCard />}
          <StyleChips value={styleNow(state.value, nextStyle.value)} onChoose={(style) => void chooseStyle(style)} />
          <div class="cta" ref={cta}>
            <button class="button wide" disabled={busy || !ready()} aria-busy={busy}>{S.start}</button>
            <div class="progress" role="status">
              {busy && <><progress aria-label={S.start} /><span>{PROGRESS[grounding]}</span>{slow && <span>{S.slow}</span>}</>}
            </div>
            {trouble !== '' && <p class="problem" role="alert" ref={told} tabIndex={-1}>{trouble}</p>}
          </div>
          <p class="hint picker-hint">
            <button type="button" class="text-button" onClick={() => chooseTab('history')}>{S.historyHint}</button>
          </p>
          {family === 'in-app' && <p class="note"><Icon name="info" />{S.inApp}</p>}
          {state.value.identity?.localTutor && kind.value !== 'news' && <p class="hint local-note">{S.localTutor}</p>}
        </form>
      </section>
      <div class="dock"><VoiceCluster /></div>
    </div>
  );
}
