// Past conversations: newest first, resume and delete.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { lesson, leave, report, resume, toast } from './actions.ts';
import { tellTabs } from './other-tabs.ts';
import { call, read } from './api.ts';
import { Dialog, IconButton } from './parts.tsx';
import { S } from './strings.ts';
import { when } from './when.ts';

type Summary = {
  sessionId: string; topicIds: string[]; topicLabels: Record<string, string>; startedAt: string;
  turnCount: number; lastText?: string | null; complete?: boolean;
};

const LIMIT = 50;
const conversations = signal<Summary[] | null>(null);
const more = signal(false);
const failed = signal(false);
const doomed = signal<Summary | null>(null);

const titleOf = (summary: Summary): string =>
  summary.topicIds.map((id) => summary.topicLabels[id]).filter(Boolean).join(', ') || S.untitled;

const page = async (after = ''): Promise<Summary[]> => {
  const { sessions } = await read<{ sessions: Summary[] }>(`sessions?limit=${LIMIT}${after && `&after=${encodeURIComponent(after)}`}`);
  more.value = sessions.length === LIMIT;
  return sessions;
};

async function load(): Promise<void> {
  try {
    failed.value = false;
    conversations.value = await page();
  } catch (failure) {
    failed.value = true;
    await report(failure);
  }
}

async function loadOlder(): Promise<void> {
  const known = conversations.value ?? [];
  try {
    conversations.value = [...known, ...await page(known.at(-1)?.sessionId)];
  } catch (failure) {
    await report(failure);
  }
}

/** Deletes it; `then` runs once its row is gone. */
async function remove({ sessionId }: Summary, then: () => void): Promise<void> {
  doomed.value = null;
  try {
    await call('deleteSession', { sessionId });
    conversations.value = conversations.value?.filter((summary) => summary.sessionId !== sessionId) ?? null;
    tellTabs({ type: 'deleted', sessionId });
    if (lesson.value?.sessionId === sessionId) leave();
    toast(S.deleted);
    then();
  } catch (failure) {
    await report(failure);
  }
}

export function History() {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const again = (): void => { if (failed.value) void load(); };
    addEventListener('online', again);
    void load();
    return () => removeEventListener('online', again);
  }, []);
  const list = conversations.value;
  return (
    <section class="page" aria-labelledby="history-title">
      <h1 id="history-title" ref={title} tabIndex={-1}>{S.historyTitle}</h1>
      {list === null && !failed.value && <p class="hint" role="status">{S.loading}</p>}
      {list === null && failed.value && (
        <p class="empty">{S.historyUnloaded}{' '}<button type="button" class="text-button" onClick={() => void load()}>{S.retry}</button></p>
      )}
      {list?.length === 0 && <p class="empty">{S.historyEmpty}</p>}
      <ul class="rows">
        {list?.map((summary) => {
          const current = summary.sessionId === lesson.value?.sessionId;
          return (
            <li key={summary.sessionId} class="row" aria-current={current ? 'true' : undefined}>
              <div class="row-text">
                <h2 dir="auto">{titleOf(summary)}</h2>
                <p class="row-meta">
                  {current && <span class="badge live">{S.inProgress}</span>}
                  {summary.complete && <span class="badge done">{S.allCovered}</span>}
                  <span>{when(summary.startedAt, new Date())}</span><span>{S.turns(summary.turnCount)}</span>
                </p>
                {summary.lastText && <p class="row-last" dir="auto">{summary.lastText}</p>}
              </div>
              <div class="row-actions">
                <IconButton icon="resume" label={S.resume} onClick={() => void resume(summary.sessionId)} />
                <IconButton icon="trash" label={S.delete} onClick={() => { doomed.value = summary; }} />
              </div>
            </li>
          );
        })}
      </ul>
      {more.value && <button type="button" class="button quiet" onClick={() => void loadOlder()}>{S.showOlder}</button>}
      <Dialog title={S.deleteTitle} open={doomed.value !== null} onClose={() => { doomed.value = null; }}>
        <p>{doomed.value !== null && S.deleteBody(titleOf(doomed.value))}</p>
        <div class="actions">
          <button type="button" class="button quiet" onClick={() => { doomed.value = null; }}>{S.cancel}</button>
          <button type="button" class="button danger" onClick={() => { if (doomed.value !== null) void remove(doomed.value, () => title.current?.focus()); }}>{S.delete}</button>
        </div>
      </Dialog>
    </section>
  );
}
