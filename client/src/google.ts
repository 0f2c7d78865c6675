// Signing in through Google: the way there is a plain link, the way back a cookie or an error in the address. Pure.
import { S } from './strings.ts';

/** The server leads to Google and takes its answer; this page never talks to Google itself. */
export const GOOGLE_DOOR = '/api/google/start';

const ERROR_ROUTE = /^#\/signin\?error=([\w-]*)$/;
const TEXT: Record<string, string> = {
  cancelled: S.googleCancelled,
  expired: S.googleExpired,
  browser: S.googleBrowser,
  account: S.googleAccount,
  unavailable: S.googleUnavailable,
  setup: S.googleSetup,
  busy: S.errorRate,
};

/** Why the last try did not succeed, by the address that it came back to; empty for nothing. */
export function googleProblem(hash: string): string {
  const [, code] = ERROR_ROUTE.exec(hash) ?? [];
  return code === undefined ? '' : TEXT[code] ?? S.googleRefused;
}
