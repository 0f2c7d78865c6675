// Tabs as entries of the browser's history. Pure. The chat has the bare address, so that a bookmark stays what it is.
import type { Tab } from './state.ts';

const TABS: Record<string, Tab> = { '': 'chat', '#/chat': 'chat', '#/history': 'history', '#/admin': 'admin' };

/** The tab that an address means; null when it means something else: a sign-in link, an invite. */
export const tabOf = (hash: string): Tab | null => TABS[hash] ?? null;

export const hashOf = (tab: Tab): string => (tab === 'chat' ? '' : `#/${tab}`);

/** What to do with the browser's history so that it says which tab is shown. An address that nobody could be led to
    (the admin's, for a learner) is replaced: going back must not lead there. */
export function historyStep(hash: string, tab: Tab, admin: boolean): 'keep' | 'push' | 'replace' {
  const there = tabOf(hash);
  if (there === null || there === tab) return 'keep';
  return there === 'admin' && !admin ? 'replace' : 'push';
}
