// Push-to-talk by a held key while a call runs. Open-mic stays the rule: without the key nothing changes.
import { effect, signal } from '@preact/signals';
import { voice } from './calls.ts';
import { Hold } from './hold.ts';
import { dispatch, state } from './store.ts';
import { S } from './strings.ts';
import { isApple, isNativeKey, isTalkKey, isTalkPress, type TalkKey } from './talk-key.ts';

const KEY = 'pidjin.talkKey';
export const APPLE = isApple(navigator.platform);
export const talkKey = signal<TalkKey>(localStorage.getItem(KEY) === 'modifier' ? 'modifier' : 'space');

export const nameOf = (key: TalkKey): string => (key === 'space' ? S.keySpace : APPLE ? S.keyCommand : S.keyControl);

export function chooseTalkKey(key: TalkKey): void {
  hold.released();
  localStorage.setItem(KEY, key);
  talkKey.value = key;
}

const hold = new Hold(
  () => state.value.voice.link === 'connected' && state.value.voice.features.includes('ptt') && document.querySelector('dialog[open]') === null,
  (down) => {
    voice().send('client-message', { t: 'ptt', d: { down } });
    voice().mute(down || !state.value.replySpeech);
    dispatch({ type: 'holding', on: down });
  },
);

const inField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('textarea, select, input:not([type=radio], [type=checkbox])'));

const letGo = (): void => { hold.released(); };

effect(() => { if (state.value.voice.link !== 'connected') letGo(); });

addEventListener('keydown', (event) => {
  const key = talkKey.value;
  if (!isTalkPress(event, key, APPLE)) return letGo();
  if (!inField(event.target) && hold.pressed(event.repeat) && isNativeKey(key)) event.preventDefault();
});
addEventListener('keyup', (event) => {
  if (isTalkKey(event, talkKey.value, APPLE) && hold.released() && isNativeKey(talkKey.value)) event.preventDefault();
});
// Ctrl with a click or the wheel is a gesture of its own.
for (const joining of ['pointerdown', 'wheel'] as const)
  addEventListener(joining, () => { if (talkKey.value === 'modifier') letGo(); }, { passive: true });
addEventListener('blur', letGo);
document.addEventListener('visibilitychange', () => { if (document.visibilityState === 'hidden') letGo(); });
