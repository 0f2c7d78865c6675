// HTTP: one call per operation, the CSRF header on every write, errors as CallFailed. Holds no state.
import { skewMs } from './clock.ts';
import { CallFailed } from './errors.ts';

const DEADLINE_MS = 75_000;
const OFFER_DEADLINE_MS = 15_000;

const cookie = (name: string): string =>
  document.cookie.split('; ').find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';

const headers = (): Record<string, string> => ({
  'content-type': 'application/json',
  'x-csrf-token': decodeURIComponent(cookie('pidjin_csrf')),
});

const STATUS_CODES: Record<number, string> = {
  400: 'invalid-argument', 401: 'unauthenticated', 403: 'permission-denied', 404: 'not-found', 409: 'aborted',
  413: 'invalid-argument', 429: 'resource-exhausted', 503: 'unavailable', 504: 'deadline-exceeded',
};

/** Milliseconds that this device's clock is ahead of the server's; null when it is right. */
export let clockAheadMs: number | null = null;

async function request<T>(path: string, init: RequestInit, deadlineMs: number): Promise<T> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), deadlineMs);
  try {
    const answer = await fetch(path, { ...init, credentials: 'same-origin', cache: 'no-store', signal: stop.signal });
    clockAheadMs = skewMs(answer.headers.get('date'), Date.now());
    const body: unknown = await answer.json().catch(() => ({}));
    if (answer.ok) return body as T;
    const { error } = body as { error?: { code?: string; message?: string; details?: { reason?: string } } };
    throw new CallFailed(
      error?.details?.reason === 'rate' ? 'rate' : error?.code ?? STATUS_CODES[answer.status] ?? 'internal', error?.message ?? '', answer.status,
      Number(answer.headers.get('retry-after')) || null, error?.details?.reason ?? '',
    );
  } catch (failure) {
    if (failure instanceof CallFailed) throw failure;
    throw new CallFailed(stop.signal.aborted ? 'deadline-exceeded' : 'offline', '');
  } finally {
    clearTimeout(timer);
  }
}

/** False when no call can succeed before a sign-in: the readable cookie comes and goes with the session. */
export const mayBeSignedIn = (): boolean => cookie('pidjin_csrf') !== '';

/** GET /api/<path>. Raises CallFailed. */
export const read = <T>(path: string, deadlineMs = DEADLINE_MS): Promise<T> => request<T>(`/api/${path}`, {}, deadlineMs);

/** POST /api/<operation>. Raises CallFailed. */
export const call = <T>(operation: string, body: object = {}): Promise<T> =>
  write<T>('POST', operation, body, operation === 'offer' ? OFFER_DEADLINE_MS : DEADLINE_MS);

/** Any other write to /api/<path>. Raises CallFailed. */
export const write = <T>(method: 'POST' | 'PATCH' | 'PUT', path: string, body: object = {}, deadlineMs = DEADLINE_MS): Promise<T> =>
  request<T>(`/api/${path}`, { method, headers: headers(), body: JSON.stringify(body) }, deadlineMs);

/** A last word while the page goes away: no answer is awaited and a failure has nobody left to tell. */
export function farewell(operation: string, body: object): void {
  fetch(`/api/${operation}`, {
    method: 'POST', headers: headers(), body: JSON.stringify(body), credentials: 'same-origin', keepalive: true,
  }).catch(() => undefined);
}
