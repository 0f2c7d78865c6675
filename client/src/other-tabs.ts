// What the tabs of one browser tell each other, so that none of them shows what is gone.
export type Told = { type: 'signed-in' } | { type: 'signed-out' } | { type: 'deleted' | 'said'; sessionId: string };

const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('pidjin');

export const tellTabs = (what: Told): void => channel?.postMessage(what);

export function onTold(listener: (what: Told) => void): void {
  channel?.addEventListener('message', ({ data }: MessageEvent<Told>) => listener(data));
}
