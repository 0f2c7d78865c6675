// How far the clock of this device is off, by the dates of the server's answers. Pure.
const TOLERATED_MS = 5 * 60_000;
const HOUR_MS = 3_600_000;

/** Milliseconds that this device is ahead of the server; null when it is right or nothing is known. */
export function skewMs(dateHeader: string | null, now: number): number | null {
  const server = Date.parse(dateHeader ?? '');
  if (Number.isNaN(server)) return null;
  const ahead = now - server;
  return Math.abs(ahead) > TOLERATED_MS ? ahead : null;
}

/** `7 minutes`, `3 hours`, `2 days`: rounded, never zero. */
export function span(ms: number): { count: number; unit: 'minute' | 'hour' | 'day' } {
  const size = Math.abs(ms);
  if (size < 1.5 * HOUR_MS) return { count: Math.max(1, Math.round(size / 60_000)), unit: 'minute' };
  if (size < 36 * HOUR_MS) return { count: Math.round(size / HOUR_MS), unit: 'hour' };
  return { count: Math.round(size / (24 * HOUR_MS)), unit: 'day' };
}
