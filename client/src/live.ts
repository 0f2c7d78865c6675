// Lists that keep themselves fresh while somebody looks at them.
import { useEffect, useState } from 'preact/hooks';
import { report } from './actions.ts';
import { CallFailed } from './errors.ts';

/** Failures that concern the reader, not the list. */
const OF_THE_READER = new Set(['unauthenticated', 'permission-denied']);

/** Loads now, every `everyMs` while the page is seen, and when it is seen again. True while the last try failed. */
export function useLive(load: () => Promise<void>, everyMs: number): boolean {
  const [stale, setStale] = useState(false);
  useEffect(() => {
    let running = false;
    const tick = async (): Promise<void> => {
      if (running || document.visibilityState === 'hidden') return;
      running = true;
      try {
        await load();
        setStale(false);
      } catch (failure) {
        if (!(failure instanceof CallFailed)) throw failure;
        setStale(true);
        if (OF_THE_READER.has(failure.code)) await report(failure);
      } finally {
        running = false;
      }
    };
    const soon = (): void => void tick();
    const timer = setInterval(soon, everyMs);
    document.addEventListener('visibilitychange', soon);
    addEventListener('online', soon);
    soon();
    return () => { clearInterval(timer); document.removeEventListener('visibilitychange', soon); removeEventListener('online', soon); };
  }, [load, everyMs]);
  return stale;
}
