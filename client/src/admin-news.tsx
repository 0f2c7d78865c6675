// News topics: what learners may choose, how it is gathered, and when it last was.
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { report, state, toast } from './actions.ts';
import { read, write } from './api.ts';
import { CallFailed, failureText } from './errors.ts';
import { Icon } from './icons.tsx';
import { useLive } from './live.ts';
import { CATALOG_ACTIONS, FILTERS, filtered, outcome, recency, STATUS_LABEL, type CatalogStatus, type Filter, type NewsItem, type Run } from './news.ts';
import { Busy, Dialog, IconButton, Stale, Switch } from './parts.tsx';
import { S } from './strings.ts';
import { when } from './when.ts';

type Config = { newsAutoPublish: boolean; newsPipelineEnabled: boolean; newsThemes: string[] };

const EVERY_MS = 10_000;
const RUN_DEADLINE_MS = 560_000;
const RUNS_MAX = 14;
const TITLE_MAX = 200;
const QUERY_MAX = 500;
const DESCRIPTION_MAX = 1_000;

const items = signal<NewsItem[] | null>(null);
const config = signal<Config | null>(null);
const runs = signal<Run[] | null>(null);
const filter = signal<Filter>('all');
const gathering = signal(false);
const adding = signal(false);
/** Drafts that the learner-facing list could take at once; asked about after auto-publish was turned on. */
const waiting = signal<NewsItem[]>([]);

async function load(): Promise<void> {
  const [catalog, settings, records] = await Promise.all([
    read<{ items: NewsItem[] }>('admin/catalog'), read<Config>('admin/news-config'), read<{ runs: Run[] }>(`admin/pipeline-runs?limit=${RUNS_MAX}`),
  ]);
  items.value = catalog.items;
  config.value = settings;
  runs.value = records.runs;
}

/** Does what was asked and shows what became of it; a failure is told and changes nothing. */
async function perform(work: () => Promise<void>): Promise<void> {
  try {
    await work();
    await load();
  } catch (failure) {
    config.value = config.value && { ...config.value };
    await report(failure);
  }
}

const setStatus = (id: string, status: CatalogStatus): Promise<NewsItem> =>
  write('PATCH', `admin/catalog/${encodeURIComponent(id)}`, { status });

const setConfig = (changes: Partial<Config>): Promise<void> =>
  perform(async () => { config.value = await write<Config>('PATCH', 'admin/news-config', changes); });

async function setAutoPublish(on: boolean): Promise<void> {
  await setConfig({ newsAutoPublish: on });
  if (on && config.value?.newsAutoPublish) waiting.value = filtered(items.value ?? [], 'draft');
}

async function publishAll(): Promise<void> {
  const drafts = waiting.value;
  waiting.value = [];
  let published = 0;
  await perform(async () => {
    for (const draft of drafts) {
      await setStatus(draft.id, 'active');
      published += 1;
    }
  });
  toast(S.publishedDrafts(published));
}

async function gather(): Promise<void> {
  if (gathering.value) return;
  gathering.value = true;
  await perform(async () => {
    const run = await write<Run>('POST', 'admin/pipeline-runs', {}, RUN_DEADLINE_MS);
    const { text, tone } = outcome(run);
    toast(text, tone);
  });
  gathering.value = false;
}

function Card({ item }: { item: NewsItem }) {
  const status = item.status ?? 'draft';
  const { label, leadsTo } = CATALOG_ACTIONS[status];
  return (
    <li class="row news-card">
      <div class="row-text">
        <h2 dir="auto">{item.title}</h2>
        <p class="row-meta">
          <span class={`badge ${status === 'active' ? 'live' : ''}`}>{STATUS_LABEL[status]}</span>
          <span>{[recency(item.updatedAt, new Date()), ...(item.themes ?? [])].filter(Boolean).join(' · ')}</span>
        </p>
        <details>
          <summary>{S.preview}<Icon name="chevron" /></summary>
          <p class="digest" dir="auto">{item.digest || S.noDigest}</p>
          {(item.sources ?? []).length > 0 && <h3>{S.sources}</h3>}
          <ul class="sources">
            {item.sources?.map(({ title, url = '' }) => (
              <li key={url + (title ?? '')}>{/^https?:/.test(url) ? <a href={url} target="_blank" rel="noreferrer noopener">{title || url}</a> : <span>{title}</span>}</li>
            ))}
          </ul>
        </details>
      </div>
      <div class="row-actions">
        <button type="button" class={`button small ${leadsTo === 'active' ? '' : 'quiet'}`} aria-label={`${label}: ${item.title}`}
          onClick={() => void perform(async () => { await setStatus(item.id, leadsTo); })}>{label}</button>
      </div>
    </li>
  );
}

function Runs() {
  return (
    <section class="group" aria-labelledby="runs-title">
      <h2 id="runs-title" class="group-title">{S.runs}</h2>
      {runs.value?.length === 0 && <p class="empty">{S.runsNone}</p>}
      <ul class="rows">
        {runs.value?.map((run) => (
          <li key={run.day} class="row">
            <div class="row-text">
              <h3>{when(run.ranAt, new Date())}</h3>
              <p>{S.runCounts(run.generated, run.published, run.drafts, run.pruned)}</p>
              <p class="row-meta"><span class="badge">{run.trigger === 'schedule' ? S.runSchedule : S.runManual}</span>
                {Object.entries(run.byTheme).map(([theme, n]) => <span key={theme}>{S.runTheme(theme, n)}</span>)}</p>
              {run.errors.map(({ theme, message }) => <p key={theme} class="problem">{S.runError(theme, message)}</p>)}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function AddDialog() {
  const [problem, setProblem] = useState('');
  const add = async (form: FormData): Promise<void> => {
    const field = (name: string): string => String(form.get(name) ?? '').trim();
    const lacking = field('title') === '' ? S.titleMissing : field('searchQuery') === '' ? S.queryMissing : '';
    setProblem(lacking);
    if (lacking !== '') return;
    try {
      await write('POST', 'admin/catalog', { kind: 'news', title: field('title'), searchQuery: field('searchQuery'), description: field('description') });
      adding.value = false;
      toast(S.added);
      await load();
    } catch (failure) {
      if (!(failure instanceof CallFailed)) throw failure;
      setProblem(failureText(failure, new Date()));
    }
  };
  return (
    <Dialog title={S.addNewsTopic} open={adding.value} onClose={() => { adding.value = false; setProblem(''); }}>
      <form class="form" noValidate onSubmit={(event) => { event.preventDefault(); void add(new FormData(event.currentTarget)); }}>
        <label class="field">{S.title}<input name="title" maxLength={TITLE_MAX} /></label>
        <label class="field">{S.searchQuery}<input name="searchQuery" maxLength={QUERY_MAX} placeholder={S.searchQueryHint} /></label>
        <label class="field">{S.description}<textarea name="description" rows={2} maxLength={DESCRIPTION_MAX} /></label>
        {problem !== '' && <p class="problem" role="alert">{problem}</p>}
        <div class="actions">
          <button type="button" class="button quiet" onClick={() => { adding.value = false; }}>{S.cancel}</button>
          <button class="button">{S.add}</button>
        </div>
      </form>
    </Dialog>
  );
}

export function NewsTopics() {
  const stale = useLive(load, EVERY_MS);
  const shown = filtered(items.value ?? [], filter.value);
  const settings = config.value;
  return (
    <section class="group" aria-labelledby="news-title">
      <header class="page-bar">
        <h1 id="news-title">{S.newsTopics}</h1>
        <span class="row-actions">
          <IconButton icon="run" label={S.runPipeline} disabled={gathering.value} onClick={() => void gather()} />
          <IconButton icon="add" label={S.addNewsTopic} onClick={() => { adding.value = true; }} />
        </span>
      </header>
      <div role="status">{gathering.value && <Busy label={S.pipelineRunning} />}</div>
      <Stale when={stale} />
      {settings !== null && (
        <div class="switches">
          <Switch label={S.dailyIngest} note={S.dailyIngestNote} on={settings.newsPipelineEnabled} onChange={(on) => void setConfig({ newsPipelineEnabled: on })} />
          <Switch label={S.autoPublish} note={S.themes(settings.newsThemes.join(', '))} on={settings.newsAutoPublish} onChange={(on) => void setAutoPublish(on)} />
        </div>
      )}
      {state.value.identity?.localTutor && <p class="note"><Icon name="info" />{S.pipelineLocal}</p>}
      <div class="kinds filters" role="group" aria-label={S.filter}>
        {FILTERS.map((name) => (
          <button key={name} type="button" class="chip" aria-pressed={filter.value === name} onClick={() => { filter.value = name; }}>{STATUS_LABEL[name]}</button>
        ))}
      </div>
      {items.value === null && !stale && <p class="hint" role="status">{S.loading}</p>}
      {items.value !== null && shown.length === 0 && <p class="empty">{S.catalogNone}</p>}
      <ul class="rows">{shown.map((item) => <Card key={item.id} item={item} />)}</ul>
      <Runs />
      <AddDialog />
      <Dialog title={S.publishAllTitle} open={waiting.value.length > 0} onClose={() => { waiting.value = []; }}>
        <p>{S.publishAllBody(waiting.value.length)}</p>
        <div class="actions">
          <button type="button" class="button quiet" onClick={() => { waiting.value = []; }}>{S.keepDrafts}</button>
          <button type="button" class="button" onClick={() => void publishAll()}>{S.publishAll}</button>
        </div>
      </Dialog>
    </section>
  );
}
