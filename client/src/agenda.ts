// The agenda as the learner sees it: points in canonical order, parts of five above eight points. Pure.
import { S } from './strings.ts';

export type Agenda = { readonly points: readonly string[]; readonly covered: readonly string[] };
export type Point = { title: string; covered: boolean };
export type Part = { heading: string | null; points: Point[] };
export type AgendaView = { parts: Part[]; header: string; complete: boolean };

export const NO_AGENDA: Agenda = { points: [], covered: [] };
const PART_SIZE = 5;
const UNGROUPED_MAX = 8;

export function viewAgenda({ points, covered }: Agenda): AgendaView {
  const known = new Set(covered);
  const list = points.map((title) => ({ title, covered: known.has(title) }));
  const done = list.filter((point) => point.covered).length;
  const parts: Part[] = [];
  if (list.length <= UNGROUPED_MAX) parts.push({ heading: null, points: list });
  else
    for (let at = 0; at < list.length; at += PART_SIZE)
      parts.push({ heading: S.agendaPart(at / PART_SIZE + 1), points: list.slice(at, at + PART_SIZE) });
  return { parts, header: S.agendaCount(done, list.length), complete: list.length > 0 && done === list.length };
}

/** The button beside the microphone: nothing to show yet, points open, or all covered. */
export function agendaButton(agenda: Agenda | undefined): { label: string; disabled: boolean; complete: boolean } {
  const { complete } = viewAgenda(agenda ?? NO_AGENDA);
  const disabled = agenda === undefined || agenda.points.length === 0;
  return { label: disabled ? S.agendaNone : complete ? S.agendaComplete : S.agenda, disabled, complete };
}

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : [];

/** Reads a reveal state, flat or keyed by topic id; anything else gives an empty agenda. */
export function agendaOf(revealState: unknown, topicId: string): Agenda {
  if (typeof revealState !== 'object' || revealState === null) return NO_AGENDA;
  const state = revealState as Record<string, unknown>;
  if (!('agenda' in state) && typeof state[topicId] === 'object') return agendaOf(state[topicId], topicId);
  return { points: strings(state.agenda), covered: strings(state.coveredAngles) };
}
