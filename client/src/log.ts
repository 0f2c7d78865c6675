// The conversation: one entry per exchange, in order of first appearance; late words fill their slot. Pure.
export type Delivery = 'sent' | 'waiting' | 'failed';
export type Exchange = {
  /** Stays the same for the life of the entry; `turnId` does not. */
  readonly key: string;
  readonly turnId: string;
  readonly learner: string;
  readonly learnerFinal: boolean;
  readonly tutor: string;
  readonly interrupted: boolean;
  /** The rest of an interrupted reply, which was never played. */
  readonly unheard: string;
  /** The reply broke off before its end, so that the tutor can be asked to go on from there. */
  readonly cut: boolean;
  readonly settled: boolean;
  readonly delivery: Delivery;
  /** System line of the server after this exchange; empty for none. */
  readonly note: string;
};
export type Log = readonly Exchange[];

const fresh = (turnId: string, at: number): Exchange => ({
  key: `${at}:${turnId}`, turnId, learner: '', learnerFinal: false, tutor: '', interrupted: false, unheard: '', cut: false, settled: false, delivery: 'sent', note: '',
});

/** Applies `change` to the exchange `turnId`, adding it at the end when it is new. */
function edit(log: Log, turnId: string, change: (exchange: Exchange) => Exchange): Log {
  const at = log.findIndex((exchange) => exchange.turnId === turnId);
  if (at < 0) return [...log, change(fresh(turnId, log.length))];
  return log.map((exchange, index) => (index === at ? change(exchange) : exchange));
}

/** A message without a turn id belongs to the exchange that is still open, or opens one. */
function slot(log: Log, turnId: string, opens: (last: Exchange) => boolean): string {
  if (turnId !== '') return turnId;
  const last = log.at(-1);
  return last === undefined || opens(last) ? `auto-${log.length}` : last.turnId;
}

export function learnerSaid(log: Log, turnId: string, text: string, final: boolean, requestId = ''): Log {
  const id = slot(log, turnId, (last) => last.settled || last.learnerFinal || last.tutor !== '');
  const typed = final && !log.some((exchange) => exchange.turnId === id)
    ? log.find((exchange) => exchange.delivery === 'waiting'
        && (requestId === '' ? exchange.learner.trim() === text.trim() : exchange.turnId === requestId))
    : undefined;
  if (typed !== undefined)
    return log.map((exchange) => (exchange === typed ? { ...exchange, turnId: id, learner: text, delivery: 'sent' } : exchange));
  return edit(log, id, (exchange) =>
    exchange.learnerFinal && !final ? exchange : { ...exchange, learner: text, learnerFinal: final });
}

export function tutorSaid(log: Log, turnId: string, text: string, replace: boolean): Log {
  const id = slot(log, turnId, (last) => last.settled || last.interrupted);
  return edit(log, id, (exchange) =>
    exchange.settled ? exchange : { ...exchange, tutor: replace ? text : exchange.tutor + text });
}

/** The tutor was cut off: only the words that were heard stay. Without a turn id it can only be the open reply. */
export function tutorInterrupted(log: Log, turnId: string, heard: string | null): Log {
  const open = log.findIndex((exchange) => exchange.tutor !== '' && !exchange.settled);
  const id = turnId !== '' ? turnId : log[open]?.turnId;
  if (id === undefined) return log;
  return edit(log, id, (exchange) => ({ ...exchange, interrupted: true, tutor: heard ?? exchange.tutor }));
}

/** The server's word after the exchange: what was said and what was heard. */
export function turnSettled(
  log: Log, turn: { turnId: string; userText: string; text: string; unheard?: string; interrupted: boolean },
): Log {
  const id = slot(log, turn.turnId, (last) => last.settled);
  const unheard = turn.interrupted ? (turn.unheard ?? '').trim() : '';
  return edit(log, id, (exchange) => ({
    ...exchange, learner: turn.userText, learnerFinal: true, tutor: turn.text,
    interrupted: turn.interrupted, unheard, cut: unheard !== '', settled: true, delivery: 'sent',
  }));
}

export function systemSaid(log: Log, turnId: string, text: string): Log {
  const id = turnId !== '' ? turnId : log.at(-1)?.turnId;
  return id === undefined ? log : edit(log, id, (exchange) => ({ ...exchange, note: text }));
}

/** A message the learner typed and that nobody has answered yet. */
export const typed = (log: Log, turnId: string, text: string): Log =>
  edit(log, turnId, (exchange) => ({ ...exchange, learner: text, learnerFinal: true, delivery: 'waiting' }));

/** Everything still waiting has failed; it stays on the page and may be sent again. */
export const deliveryFailed = (log: Log): Log =>
  log.map((exchange) => (exchange.delivery === 'waiting' ? { ...exchange, delivery: 'failed' } : exchange));

/** A lesson counts its turns anew: what an earlier one has said must not be taken for the same turn. With
    `onlySettled` the exchange under way stays open, because a lesson survives the loss of its connection. */
export const sealed = (log: Log, onlySettled: boolean): Log =>
  log.map((exchange) => (exchange.delivery !== 'sent' || (onlySettled && !exchange.settled)
    ? exchange : { ...exchange, turnId: `sealed:${exchange.key}`, settled: true }));

export const without = (log: Log, turnId: string): Log => log.filter((exchange) => exchange.turnId !== turnId);

export type StoredTurn = { text?: string; userText?: string };

/** A stored exchange holds what was heard; that a reply was interrupted, and how it went on, is not kept. */
export const restored = (turns: readonly StoredTurn[]): Log =>
  turns.map((turn, index) => ({
    ...fresh(`stored-${index}`, index), learner: turn.userText ?? '', learnerFinal: true, tutor: turn.text ?? '', settled: true,
  }));

/** The log with the exchanges that another window has added since, in the order that is stored. Null when there are none,
    and when it is not certain which they are: an exchange is under way, or something of this log is not stored. What has
    failed here stays at the end. */
export function caughtUp(log: Log, turns: readonly StoredTurn[]): Log | null {
  const known = log.filter((exchange) => exchange.settled && (exchange.learner !== '' || exchange.tutor !== ''));
  const failed = log.filter((exchange) => exchange.delivery === 'failed');
  const left = [...known];
  const merged = restored(turns).map((turn) => (left[0]?.learner === turn.learner && left[0].tutor === turn.tutor ? left.shift()! : turn));
  const open = log.some((exchange) => !exchange.settled && exchange.delivery !== 'failed');
  return open || left.length > 0 || merged.length === known.length ? null : [...merged, ...failed];
}

export type Line =
  | { key: string; who: 'learner'; text: string; final: boolean; delivery: Delivery; turnId: string }
  | { key: string; who: 'tutor'; text: string; unheard: string; cut: boolean; turnId: string; settled: boolean }
  | { key: string; who: 'system'; text: string };

/** What the page shows; only the last reply that broke off is offered to be gone on with. Interim learner words show only once the tutor has begun to answer them: until then
    they are the interim line, and noise never becomes a bubble. */
export function lines(log: Log, interruptedText: string): Line[] {
  const shown: Line[] = [];
  const goOn = log.filter((exchange) => exchange.cut).at(-1);
  for (const exchange of log) {
    const { key, turnId, learner, learnerFinal, tutor, delivery, note } = exchange;
    if (learner !== '' && (learnerFinal || tutor !== ''))
      shown.push({ key: `${key}:learner`, who: 'learner', text: learner, final: learnerFinal, delivery, turnId });
    if (tutor !== '' || exchange.unheard !== '')
      shown.push({ key: `${key}:tutor`, who: 'tutor', text: tutor, unheard: exchange.unheard, cut: exchange === goOn, turnId, settled: exchange.settled });
    if (exchange.interrupted) shown.push({ key: `${key}:interrupted`, who: 'system', text: interruptedText });
    if (note !== '') shown.push({ key: `${key}:note`, who: 'system', text: note });
  }
  return shown;
}

/** Whether the server of the running call still knows this exchange by its id. */
export const isOfThisCall = (turnId: string): boolean => !/^(sealed:|stored-|typed-|auto-)/.test(turnId);

const GO_ON_WORDS = 8;

/** The last words that were heard before the cut, to say where to go on. */
export const lastWords = (heard: string): string => heard.trim().split(/\s+/).slice(-GO_ON_WORDS).join(' ');

/** Words being spoken right now, or an empty string. */
export function interimWords(log: Log): string {
  const last = log.at(-1);
  return last !== undefined && !last.learnerFinal && last.tutor === '' ? last.learner : '';
}
