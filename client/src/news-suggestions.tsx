// The news that an admin has published, to choose from: every active topic, the freshest first.
import { signal } from '@preact/signals';
import { read } from './api.ts';
import { Icon } from './icons.tsx';
import { useLive } from './live.ts';
import { recency, type NewsItem } from './news.ts';
import { S } from './strings.ts';

const EVERY_MS = 60_000;
const items = signal<NewsItem[] | null>(null);

const load = async (): Promise<void> => { items.value = (await read<{ items: NewsItem[] }>('catalog')).items; };

export function NewsSuggestions({ busy, onChoose }: { busy: boolean; onChoose: (title: string) => void }) {
  const stale = useLive(load, EVERY_MS);
  const list = items.value;
  return (
    <section class="suggestions" aria-labelledby="suggestions-title">
      <h2 id="suggestions-title">{S.newsHeader}</h2>
      {list === null && !stale && <p class="hint" role="status">{S.loading}</p>}
      {list === null && stale && <p class="problem" role="alert">{S.newsUnloaded}</p>}
      {list?.length === 0 && <p class="empty">{S.newsNone}</p>}
      <ul class="rows">
        {list?.map((item) => (
          <li key={item.id}>
            <button type="button" class="suggestion" disabled={busy} onClick={() => onChoose(item.title)}>
              <span class="suggestion-text">
                <b dir="auto">{item.title}</b>
                {item.description && <span class="row-last" dir="auto">{item.description}</span>}
                <small>{[recency(item.updatedAt, new Date()), ...(item.themes ?? [])].filter(Boolean).join(' · ')}</small>
              </span>
              <Icon name="go" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
