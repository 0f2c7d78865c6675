// Voice lessons that run right now: how they do, and a way to stop one.
import { signal } from '@preact/signals';
import { report, toast } from './actions.ts';
import { call, read } from './api.ts';
import { useLive } from './live.ts';
import { Dialog, Stale } from './parts.tsx';
import { S } from './strings.ts';
import { sum, whoOf } from './usage.ts';
import { duration } from './when.ts';

type Lesson = {
  sessionId: string; uid: string; displayName?: string; topic: string; state: string; startedAt: string; seconds: number;
  connected: boolean; replyMs?: number | null; lossPercent?: number | null; rttMs?: number | null; inputTokens: number; outputTokens: number; usd?: number | null;
  /** What went wrong so far, by machine word. */
  mishaps?: Record<string, number>;
};

const EVERY_MS = 3_000;
const lessons = signal<Lesson[] | null>(null);
const doomed = signal<Lesson | null>(null);

const load = async (): Promise<void> => { lessons.value = (await read<{ lessons: Lesson[] }>('admin/lessons')).lessons; };

async function end({ sessionId }: Lesson): Promise<void> {
  doomed.value = null;
  try {
    await call(`admin/lessons/${encodeURIComponent(sessionId)}/end`);
    toast(S.lessonStopped);
    await load();
  } catch (failure) {
    await report(failure);
  }
}

const figures = ({ replyMs, lossPercent, rttMs, inputTokens, outputTokens, usd }: Lesson): string => [
  typeof replyMs === 'number' ? S.lessonReply(replyMs) : '',
  typeof rttMs === 'number' ? S.checkDelay(rttMs).toLowerCase() : '',
  typeof lossPercent === 'number' ? S.lessonLoss(lossPercent) : '',
  S.lessonTokens(inputTokens + outputTokens, usd ?? 0),
].filter(Boolean).join(' · ');

export function Lessons() {
  const stale = useLive(load, EVERY_MS);
  return (
    <section class="group" aria-labelledby="lessons-title">
      <h1 id="lessons-title">{S.lessonsTitle}</h1>
      <Stale when={stale} />
      {lessons.value === null && !stale && <p class="hint" role="status">{S.loading}</p>}
      {lessons.value?.length === 0 && <p class="empty">{S.lessonsNone}</p>}
      <ul class="rows">
        {lessons.value?.map((lesson) => (
          <li key={lesson.sessionId} class="row lesson">
            <div class="row-text">
              <h2 dir="auto">{whoOf(lesson)}</h2>
              <p dir="auto">{lesson.topic}</p>
              <p class="row-meta">
                <span class={`badge ${lesson.connected ? 'live' : ''}`}>
                  {lesson.connected ? S.lessonState[lesson.state] ?? lesson.state : S.lessonAway}
                </span>
                <span>{duration(lesson.seconds)}</span><span>{figures(lesson)}</span>
                {lesson.mishaps !== undefined && <span title={Object.entries(lesson.mishaps).map(([code, n]) => `${code} ${n}`).join(', ')}>{S.lessonMishaps(sum(Object.values(lesson.mishaps)))}</span>}
              </p>
            </div>
            <div class="row-actions">
              <button type="button" class="button quiet small" aria-label={`${S.stopLesson}: ${whoOf(lesson)}`}
                onClick={() => { doomed.value = lesson; }}>{S.stopLesson}</button>
            </div>
          </li>
        ))}
      </ul>
      <Dialog title={S.stopLessonTitle} open={doomed.value !== null} onClose={() => { doomed.value = null; }}>
        <p>{doomed.value !== null && S.stopLessonBody(whoOf(doomed.value))}</p>
        <div class="actions">
          <button type="button" class="button quiet" onClick={() => { doomed.value = null; }}>{S.cancel}</button>
          <button type="button" class="button danger" onClick={() => { if (doomed.value !== null) void end(doomed.value); }}>{S.stopLesson}</button>
        </div>
      </Dialog>
    </section>
  );
}
