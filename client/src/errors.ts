// What an error code means for the learner: where to go and what to say. Pure.
import { S } from './strings.ts';

/** One failed call: `code` is a callable code (`resource-exhausted`, …), `offline`, or `rate` for too many
    requests at once, which unlike the daily limit passes by itself. */
export class CallFailed extends Error {
  readonly code: string;
  readonly retryAfterS: number | null;
  readonly status: number;

  constructor(code: string, message: string, status = 0, retryAfterS: number | null = null) {
    super(message);
    this.code = code;
    this.status = status;
    this.retryAfterS = retryAfterS;
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

export function errorText(code: string, message = ''): string {
  if (SERVER_KNOWS_BETTER.has(code) && /^[A-Z].*[.!?]$/.test(message)) return message;
  return TEXT[code] ?? S.errorOther;
}

const MICROPHONE: Record<string, string> = {
  NotAllowedError: S.micDenied,
  SecurityError: S.micDenied,
  NotFoundError: S.micMissing,
  OverconstrainedError: S.micMissing,
  NotReadableError: S.micBusy,
  AbortError: S.micBusy,
  insecure: S.micInsecure,
  unsupported: S.voiceUnsupported,
  lost: S.voiceLost,
  silent: S.micSilent,
};

/** Text for a voice problem: a DOMException name or one of our own words. */
export const voiceProblemText = (problem: string): string => MICROPHONE[problem] ?? S.voiceFailed;
