// Times of day for people. Pure: the present comes in.
import { LOCALE } from './strings.ts';

const DAY_MS = 86_400_000;

/** `14:05` today, `Mon 14:05` within a week, else `Mar 4` or `Mar 4, 2025`; local time zone. */
export function when(iso: string, now: Date, locale = LOCALE): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return '';
  const time: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hour12: false };
  if (at.toDateString() === now.toDateString()) return at.toLocaleTimeString(locale, time);
  if (now.getTime() - at.getTime() < 6 * DAY_MS) return at.toLocaleString(locale, { weekday: 'short', ...time });
  const day: Intl.DateTimeFormatOptions = { month: 'short', day: 'numeric' };
  return at.toLocaleDateString(locale, at.getFullYear() === now.getFullYear() ? day : { ...day, year: 'numeric' });
}

/** `4:05`, or `1:04:05` from an hour on. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (n: number): string => String(n).padStart(2, '0');
  const minutes = Math.floor(whole / 60) % 60;
  return whole < 3600 ? `${minutes}:${two(whole % 60)}` : `${Math.floor(whole / 3600)}:${two(minutes)}:${two(whole % 60)}`;
}
