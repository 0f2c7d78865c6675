// Loudspeakers, where the browser lets a page choose one: phones route sound by themselves.
import { named, type Device } from './devices.ts';

const KEY = 'pidjin.loudspeaker';
type Output = Pick<HTMLMediaElement, 'setSinkId'>;

export const chosenLoudspeaker = (): string => localStorage.getItem(KEY) ?? '';

export function rememberLoudspeaker(id: string): void {
  if (id === '') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, id);
}

/** None where there is nothing to choose. */
export const loudspeakers = async (): Promise<Device[]> =>
  typeof HTMLMediaElement !== 'undefined' && 'setSinkId' in HTMLMediaElement.prototype ? named('audiooutput') : [];

/** Plays `out` on the chosen loudspeaker; one that is gone gives way to the standard one and is forgotten. */
export async function route(out: Partial<Output>): Promise<void> {
  const id = chosenLoudspeaker();
  try {
    await out.setSinkId?.(id);
  } catch (failure) {
    if (!(failure instanceof DOMException)) throw failure;
    if (failure.name === 'NotFoundError') rememberLoudspeaker('');
  }
}
