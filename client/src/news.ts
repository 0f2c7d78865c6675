// News that learners may choose: what the server tells about it and how fresh it is. Pure.
import { S } from './strings.ts';

export type CatalogStatus = 'draft' | 'active' | 'disabled';
export type NewsItem = {
  id: string; title: string; description?: string; themes?: string[]; digest?: string; updatedAt?: string;
  groundedAt?: string | null; status?: CatalogStatus; searchQuery?: string;
  sources?: { title?: string; url?: string; publishedAt?: string | null }[];
};

/** `updated HH:MM today`, else `updated m/d`; local time zone. Empty for no date. */
export function recency(iso: string | null | undefined, now: Date): string {
  const at = new Date(iso ?? '');
  if (Number.isNaN(at.getTime())) return '';
  if (at.toDateString() !== now.toDateString()) return S.updatedOn(`${at.getMonth() + 1}/${at.getDate()}`);
  const two = (n: number): string => String(n).padStart(2, '0');
  return S.updatedToday(`${two(at.getHours())}:${two(at.getMinutes())}`);
}

export type Run = {
  day: string; ranAt: string; trigger: 'manual' | 'schedule'; generated: number; drafts: number; published: number; pruned: number;
  errors: { theme: string; message: string }[]; byTheme: Record<string, number>;
};

/** What came of a run: what was found, and which themes could not be searched, each reason once. */
export function outcome({ generated, errors }: Pick<Run, 'generated' | 'errors'>): { text: string; tone: 'plain' | 'error' } {
  const reasons = [...new Set(errors.map(({ message }) => message))];
  const failed = reasons.map((why) => S.pipelineFailed(errors.filter(({ message }) => message === why).map(({ theme }) => theme).join(', '), why));
  const found = generated > 0 || errors.length === 0 ? [S.pipelineDone(generated)] : [];
  return { text: [...found, ...failed].join(' '), tone: errors.length === 0 ? 'plain' : 'error' };
}

/** What an admin may do next with an item, and the status that it leads to. */
export const CATALOG_ACTIONS = {
  draft: { label: S.publish, leadsTo: 'active' },
  active: { label: S.hide, leadsTo: 'disabled' },
  disabled: { label: S.enable, leadsTo: 'active' },
} as const satisfies Record<CatalogStatus, { label: string; leadsTo: CatalogStatus }>;

export const FILTERS = ['all', 'draft', 'active', 'disabled'] as const;
export type Filter = (typeof FILTERS)[number];

export const STATUS_LABEL: Record<Filter, string> = { all: S.all, draft: S.draft, active: S.active, disabled: S.disabled };

export const filtered = (items: readonly NewsItem[], filter: Filter): NewsItem[] =>
  items.filter((item) => filter === 'all' || item.status === filter);
