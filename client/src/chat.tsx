// The conversation: log, grounded context, voice cluster, composer.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { ask, chooseStyle, draft, goOn, lesson, replay, say, sayAgain, state } from './actions.ts';
import { UTTERANCE_CHARS_MAX } from './documents.ts';
import { Icon, Mark } from './icons.tsx';
import { isOfThisCall, lines, type Line } from './log.ts';
import { IconButton, StyleChips } from './parts.tsx';
import { styleNow, voiceWord } from './state.ts';
import { S } from './strings.ts';
import { VoiceCluster } from './voice-cluster.tsx';
import { when } from './when.ts';

const NEAR_END_PX = 160;
const COMPOSER_MAX_PX = 160;
const WIDE = matchMedia('(min-width: 68rem)');
const SLOWER = 0.8;

function GroundedContext() {
  const { digest, sources, groundedAt } = lesson.value!.grounded;
  const { cost } = lesson.value!;
  const linked = sources.filter((source) => /^https?:/.test(source.url));
  return (
    <details class="context" open={WIDE.matches}>
      <summary>{S.groundedContext}<Icon name="chevron" /></summary>
      <div class="context-body" tabIndex={0} role="region" aria-label={S.groundedContext}>
        {groundedAt !== undefined && <p class="hint">{S.groundedAt(when(groundedAt, new Date()))}</p>}
        <p class="digest" dir="auto">{digest}</p>
        <h2>{S.sources}</h2>
        {sources.length === 0 && <p class="hint">{S.noSources}</p>}
        <ul class="sources">
          {sources.map((source) => (
            <li key={source.url + source.title}>
              {linked.includes(source)
                ? <a href={source.url} target="_blank" rel="noreferrer noopener">{source.title || source.url}</a>
                : <span><Icon name="file" />{source.title}</span>}
              {source.publishedAt && <small>{S.published(when(source.publishedAt, new Date()) || source.publishedAt)}</small>}
            </li>
          ))}
        </ul>
        {cost !== null && cost.tokens > 0 && <p class="hint">{S.voiceCost(cost.tokens, cost.usd)}</p>}
      </div>
    </details>
  );
}

function Reply({ line }: { line: Extract<Line, { who: 'tutor' }> }) {
  const { link, features } = state.value.voice;
  const replays = link === 'connected' && features.includes('replay') && line.settled && isOfThisCall(line.turnId);
  return (
    <article class="said tutor" aria-label={S.tutor}>
      <Mark />
      <div class="reply-body">
        <div class="spoken" dir="auto" data-cut={line.unheard !== ''}>
          {line.text !== '' && <p class="words">{line.text}</p>}
          {line.unheard !== '' && <>{' '}<p class="unheard"><span class="visually-hidden">{S.unheard}: </span>{line.unheard}</p></>}
        </div>
        {line.cut && (
          <button type="button" class="text-button" disabled={lesson.value!.busy} onClick={() => void goOn(line.text)}>{S.goOnFromHere}</button>
        )}
        {replays && (
          <p class="replays">
            <IconButton icon="replay" label={S.replay} onClick={() => replay(line.turnId)} />
            <IconButton icon="slow" label={S.replaySlow} onClick={() => replay(line.turnId, SLOWER)} />
          </p>
        )}
      </div>
    </article>
  );
}

function Row({ line }: { line: Line }) {
  if (line.who === 'system') return <p class="system">{line.text}</p>;
  if (line.who === 'tutor') return <Reply line={line} />;
  return (
    <article class="said learner" aria-label={S.learner} data-final={line.final} data-delivery={line.delivery}>
      <p class="words" dir="auto">{line.text}</p>
      {line.delivery === 'failed' && (
        <p class="undelivered"><span>{S.notSent}</span>
          <button type="button" class="text-button" onClick={() => void sayAgain(line.turnId, line.text)}>{S.retry}</button></p>
      )}
    </article>
  );
}

function ConversationLog() {
  const box = useRef<HTMLDivElement>(null);
  const count = useRef(0);
  const { log, busy, openingFailed } = lesson.value!;
  const shown = lines(log, S.interruptedLine);
  const thinking = busy || voiceWord(state.value.voice) === 'formulating';
  useLayoutEffect(() => {
    const { current } = box;
    if (current === null) return;
    const grew = shown.length !== count.current;
    count.current = shown.length;
    if (grew || current.scrollHeight - current.scrollTop - current.clientHeight < NEAR_END_PX) current.scrollTop = current.scrollHeight;
    // With large text the whole stage scrolls in place of the log.
    const stage = current.closest('.stage')!;
    if (grew) stage.scrollTop = stage.scrollHeight;
  });
  return (
    <div class="log" role="log" aria-label={S.conversation} aria-relevant="additions" tabIndex={0} ref={box}>
      <div class="log-lines">
        {shown.map((line) => <Row key={line.key} line={line} />)}
        {thinking && <div class="said tutor thinking" aria-hidden="true"><Mark /><span class="dots"><i /><i /><i /></span></div>}
        {busy && state.value.slow && <p class="system" role="status">{S.slow}</p>}
        {openingFailed && !busy && (
          <p class="system" role="alert">{S.openingFailed}{' '}
            <button type="button" class="text-button" onClick={() => void ask('')}>{S.retry}</button></p>
        )}
      </div>
    </div>
  );
}

function Composer() {
  const text = draft.value;
  const box = useRef<HTMLTextAreaElement>(null);
  const { busy } = lesson.value!;
  const empty = text.trim() === '';
  useLayoutEffect(() => {
    const area = box.current!;
    area.style.height = 'auto';
    area.style.height = `${Math.min(area.scrollHeight, COMPOSER_MAX_PX)}px`;
  }, [text]);
  const send = (): void => {
    if (empty || busy) return;
    draft.value = '';
    void say(text.trim());
    box.current!.focus();
  };
  return (
    <form class="composer" onSubmit={(event) => { event.preventDefault(); send(); }}>
      <textarea ref={box} rows={1} maxLength={UTTERANCE_CHARS_MAX} aria-label={S.message} placeholder={S.message} value={text} enterkeyhint="send"
        onInput={(event) => { draft.value = event.currentTarget.value; }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) { event.preventDefault(); send(); }
        }} />
      <button class="send" title={S.send} aria-label={S.send} disabled={empty || busy}><Icon name="send" /></button>
    </form>
  );
}

export function Chat() {
  const title = useRef<HTMLHeadingElement>(null);
  const { sessionId } = lesson.value!;
  useEffect(() => title.current!.focus({ preventScroll: true }), [sessionId]);
  return (
    <section class="talk" aria-labelledby="topic-title">
      <header class="topic-bar"><h1 id="topic-title" ref={title} tabIndex={-1} dir="auto">{lesson.value!.grounded.topic}</h1></header>
      {state.value.updated && (
        <p class="banner" role="status">{S.updated}<button type="button" class="text-button" onClick={() => location.reload()}>{S.reload}</button></p>
      )}
      <GroundedContext key={sessionId} />
      <ConversationLog />
      <div class="dock">
        <StyleChips value={styleNow(state.value)} onChoose={(style) => void chooseStyle(style)} />
        <VoiceCluster />
        <Composer key={sessionId} />
      </div>
    </section>
  );
}
