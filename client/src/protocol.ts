// The data channel: RTVI envelopes in and out. Unknown types and fields are ignored, malformed text gives null. Pure.
export const RTVI_VERSION = '2.0.0';
export const LIBRARY = 'pidjin-web';

export type VoiceState =
  | 'connecting' | 'listening' | 'formulating' | 'speaking' | 'paused' | 'reconnecting' | 'idle' | 'closed';

export type ServerSays =
  | { type: 'ready'; features: readonly string[] }
  | { type: 'learner-speaking'; on: boolean }
  | { type: 'learner'; turnId: string; text: string; final: boolean; requestId: string }
  | { type: 'tutor'; turnId: string; text: string; replace: boolean }
  | { type: 'interrupted'; turnId: string; heard: string | null }
  | { type: 'status'; state: VoiceState; mayInterrupt: boolean; reason: string }
  | { type: 'turn'; turnId: string; userText: string; text: string; unheard: string; interrupted: boolean; saved: boolean }
  | { type: 'agenda'; agenda: unknown; coveredAngles: unknown }
  | { type: 'notice'; text: string; code: string }
  | { type: 'system'; text: string; code: string; turnId: string }
  | { type: 'cost'; tokens: number; usd: number }
  | { type: 'activity'; level: number; sending: boolean }
  | { type: 'closed'; reason: string; text: string }
  | { type: 'error'; code: string; text: string; fatal: boolean };

type Bag = Record<string, unknown>;
const bag = (value: unknown): Bag => (typeof value === 'object' && value !== null ? (value as Bag) : {});
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
/** What the server of this call can do beyond the basics: a list of words, or one string of them. */
const features = (value: unknown): string[] =>
  (Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : text(value).split(/[\s,]+/).filter(Boolean));
const STATES = new Set<string>([
  'connecting', 'listening', 'formulating', 'speaking', 'paused', 'reconnecting', 'idle', 'closed',
]);

/** One frame of the channel as something the page can act on, or null. */
export function parse(frame: string): ServerSays | null {
  let envelope: Bag;
  try {
    envelope = bag(JSON.parse(frame));
  } catch {
    return null;
  }
  if (envelope.label !== 'rtvi-ai') return null;
  const data = bag(envelope.data);
  const turnId = text(data.turnId);
  switch (envelope.type) {
    case 'bot-ready': return { type: 'ready', features: features(bag(data.about).features) };
    case 'user-started-speaking': return { type: 'learner-speaking', on: true };
    case 'user-stopped-speaking': return { type: 'learner-speaking', on: false };
    case 'user-transcription':
      return { type: 'learner', turnId, text: text(data.text), final: data.final === true, requestId: text(data.requestId) };
    case 'bot-output':
    case 'bot-transcription':
      return { type: 'tutor', turnId, text: text(data.text), replace: data.replace === true };
    case 'bot-interrupted': return { type: 'interrupted', turnId, heard: null };
    case 'error':
      return { type: 'error', code: text(data.code), text: text(data.error) || text(data.message), fatal: data.fatal === true };
    case 'server-message': return parseOwn(data, turnId);
    default: return null;
  }
}

function parseOwn(data: Bag, turnId: string): ServerSays | null {
  switch (data.type) {
    case 'status':
      return STATES.has(text(data.state))
        ? { type: 'status', state: data.state as VoiceState, mayInterrupt: data.mayInterrupt === true, reason: text(data.reason) }
        : null;
    case 'turn':
      return {
        type: 'turn', turnId, userText: text(data.userText), text: text(data.text), unheard: text(data.unheard),
        interrupted: data.interrupted === true, saved: data.saved !== false,
      };
    case 'agenda': return { type: 'agenda', agenda: data.agenda, coveredAngles: data.coveredAngles };
    case 'notice': return { type: 'notice', text: text(data.text), code: text(data.code) };
    case 'system': return { type: 'system', text: text(data.text), code: text(data.code), turnId };
    case 'interrupted': return { type: 'interrupted', turnId, heard: typeof data.heard === 'string' ? data.heard : null };
    case 'cost':
      return { type: 'cost', tokens: number(data.inputTokens) + number(data.outputTokens), usd: number(data.usd) };
    case 'activity': return { type: 'activity', level: number(data.level), sending: data.sending === true };
    case 'error': return { type: 'error', code: text(data.code), text: text(data.message) || text(data.text), fatal: data.fatal === true };
    case 'closed': return { type: 'closed', reason: text(data.reason) || text(data.code), text: text(data.text) || text(data.message) };
    default: return null;
  }
}

export function envelope(type: string, data: unknown, id: string): string {
  return JSON.stringify({ label: 'rtvi-ai', type, id, data });
}

const BACKOFF_FIRST_S = 0.5;
const BACKOFF_MAX_S = 8;

/** Seconds to wait before the nth try to reconnect (from 0): 0.5, 1, 2, 4, 8, 8, … */
export const backoffS = (tries: number): number => Math.min(BACKOFF_MAX_S, BACKOFF_FIRST_S * 2 ** tries);
