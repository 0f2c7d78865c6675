// Who used how much of the model in the last day.
import { signal } from '@preact/signals';
import { read } from './api.ts';
import { useLive } from './live.ts';
import { Stale } from './parts.tsx';
import { S } from './strings.ts';
import { costOf, sum, tokensOf, whoOf, type Usage } from './usage.ts';
import { when } from './when.ts';

const EVERY_MS = 15_000;
const rows = signal<Usage[] | null>(null);

const load = async (): Promise<void> => { rows.value = (await read<{ usage: Usage[] }>('admin/usage')).usage; };

export function UsageReport() {
  const stale = useLive(load, EVERY_MS);
  const most = Math.max(1, ...(rows.value ?? []).map((row) => row.geminiCallCount));
  return (
    <section class="group" aria-labelledby="usage-title">
      <h1 id="usage-title">{S.usageTitle}</h1>
      <Stale when={stale} />
      {rows.value === null && !stale && <p class="hint" role="status">{S.loading}</p>}
      {rows.value !== null && rows.value.length > 1 && (
        <p class="hint">{[S.usageSum(sum(rows.value.map((row) => row.geminiCallCount)), sum(rows.value.map((row) => row.geminiTotalTokens ?? 0))), costOf(rows.value)].filter(Boolean).join(', ')}</p>
      )}
      {rows.value?.length === 0 && <p class="empty">{S.usageNone}</p>}
      <ul class="rows">
        {rows.value?.map((row) => (
          <li key={row.uid} class="row usage">
            <div class="row-text">
              <h2 dir="auto">{whoOf(row)}</h2>
              <p class="row-meta"><span>{tokensOf(row)}</span>{costOf([row]) !== '' && <span>{costOf([row])}</span>}{(row.geminiCachedTokens ?? 0) > 0 && <span>{S.cachedTokens(row.geminiCachedTokens!)}</span>}{row.lastCallAt && <span>{S.lastCall(when(row.lastCallAt, new Date()))}</span>}</p>
              <meter class="share" min={0} max={most} value={row.geminiCallCount} aria-hidden="true" />
            </div>
            <p class="figure">{S.calls(row.geminiCallCount)}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
