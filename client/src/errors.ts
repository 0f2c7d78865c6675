// What an error code means for the learner: where to go and what to say. Pure.
import { deniedText, type Family } from './browser.ts';
import { LOCALE, S } from './strings.ts';

/** One failed call: `code` is a callable code (`resource-exhausted`, …), `offline`, or `rate` for too many
    requests at once, which unlike the daily limit passes by itself. */
export class CallFailed extends Error {
  readonly code: string;
  readonly retryAfterS: number | null;
  readonly status: number;
  /** Machine word of the server for why, e.g. `no-search`; empty for none. */
  readonly reason: string;

  constructor(code: string, message: string, status = 0, retryAfterS: number | null = null, reason = '') {
    super(message);
    this.code = code;
    this.status = status;
    this.retryAfterS = retryAfterS;
    this.reason = reason;
  }
}

const TEXT: Record<string, string> = {
  offline: S.errorOffline,
  unauthenticated: S.errorSignedOut,
  'permission-denied': S.errorDenied,
  'resource-exhausted': S.errorLimit,
  rate: S.errorRate,
  'not-found': S.errorNotFound,
  'invalid-argument': S.errorInput,
  'failed-precondition': S.errorState,
  aborted: S.errorBusy,
  unavailable: S.errorBusy,
  'deadline-exceeded': S.errorSlow,
};

/** Codes whose server sentence is about the learner's own input and therefore says more than ours. */
const SERVER_KNOWS_BETTER = new Set(['invalid-argument', 'failed-precondition']);

const isSentence = (text: string): boolean => /^[A-Z].*[.!?]$/.test(text);

export function errorText(code: string, message = '', until: Date | null = null, now = new Date()): string {
  if (code === 'resource-exhausted' && until !== null) return S.errorLimitUntil(clockTime(until, now));
  if (SERVER_KNOWS_BETTER.has(code) && isSentence(message)) return message;
  return TEXT[code] ?? S.errorOther;
}

/** Codes of passing trouble: where the server knows which, it says so with a reason. */
const PASSING = new Set(['unavailable', 'deadline-exceeded', 'aborted']);

/** Waits up to this long are about what is open now, not about the day; then the server says it better. */
const SHORT_WAIT_S = 600;

/** The sentence for a failed call; a daily limit says when it ends, by the clock of this device. */
export function failureText({ code, message, reason, retryAfterS }: CallFailed, now: Date): string {
  if (reason === 'running') return S.pipelineBusy;
  if (PASSING.has(code) && reason !== '' && isSentence(message)) return message;
  if (code === 'resource-exhausted' && retryAfterS !== null && retryAfterS <= SHORT_WAIT_S && message !== '') return message;
  return errorText(code, message, retryAfterS === null ? null : new Date(now.getTime() + retryAfterS * 1000), now);
}

function clockTime(until: Date, now: Date): string {
  const time = until.toLocaleTimeString(LOCALE, { hour: '2-digit', minute: '2-digit', hour12: false });
  return until.toDateString() === now.toDateString() ? S.todayAt(time) : S.tomorrowAt(time);
}

const MICROPHONE: Record<string, string> = {
  NotFoundError: S.micMissing,
  OverconstrainedError: S.micMissing,
  NotReadableError: S.micBusy,
  AbortError: S.micBusy,
  insecure: S.micInsecure,
  unsupported: S.voiceUnsupported,
  lost: S.voiceLost,
  silent: S.micSilent,
  blocked: S.voiceBlocked,
  dictation: S.dictationFailed,
};
const DENIED = new Set(['NotAllowedError', 'SecurityError']);

/** Text for a voice problem: a DOMException name, one of our own words, or a sentence that says it already. */
export const voiceProblemText = (problem: string, family: Family = 'other'): string =>
  DENIED.has(problem) ? deniedText(family) : MICROPHONE[problem] ?? (isSentence(problem) ? problem : S.voiceFailed);

export const isDenied = (problem: string | null): boolean => problem !== null && DENIED.has(problem);

/** Problems that keep this browser from calling, so that its own speech recognition is worth offering. */
const NO_CALL = new Set(['unsupported', 'blocked', 'unreachable', 'lost']);
export const mayDictate = (problem: string | null): boolean => problem !== null && NO_CALL.has(problem);
