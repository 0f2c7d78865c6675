// Back and forward go through the tabs; a lesson goes on meanwhile.
import { effect } from '@preact/signals';
import { tabOf, hashOf, historyStep } from './routes.ts';
import { admitted } from './state.ts';
import { dispatch, state } from './store.ts';

const inside = (): boolean => state.value.door === 'inside' && admitted(state.value.me);

function follow(): void {
  const tab = tabOf(location.hash);
  if (tab === null || !inside()) return;
  // A dialog belongs to the tab that it was opened on.
  document.querySelector<HTMLDialogElement>('dialog[open]')?.close();
  dispatch({ type: 'tabChosen', tab: tab === 'admin' && state.value.me?.role !== 'admin' ? 'chat' : tab });
}

/** From now on the address says which tab is shown, and the other way round. */
export function keepHistory(): void {
  const arrival = tabOf(location.hash);
  if (arrival !== null) dispatch({ type: 'tabChosen', tab: arrival });
  effect(() => {
    const { tab, me } = state.value;
    if (!inside()) return;
    const step = historyStep(location.hash, tab, me?.role === 'admin');
    if (step !== 'keep') history[`${step}State`](null, '', `${location.pathname}${hashOf(tab)}`);
  });
  addEventListener('popstate', follow);
}
