// Which key is held to talk, and what counts as that key alone. Pure.
export type TalkKey = 'space' | 'modifier';
export type Press = Pick<KeyboardEvent, 'code' | 'key' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'isComposing'>;

/** Apple's keyboards have Command where others have Ctrl. */
export const isApple = (platform: string): boolean => /Mac|iPhone|iPad|iPod/.test(platform);

/** The key itself, whatever else is held. */
export const isTalkKey = ({ code, key }: Pick<Press, 'code' | 'key'>, wanted: TalkKey, apple: boolean): boolean =>
  wanted === 'space' ? code === 'Space' : key === (apple ? 'Meta' : 'Control');

/** The key alone: with another key it is a shortcut, which belongs to the browser. */
export function isTalkPress(press: Press, wanted: TalkKey, apple: boolean): boolean {
  if (press.isComposing || press.altKey || !isTalkKey(press, wanted, apple)) return false;
  if (wanted === 'space') return !press.ctrlKey && !press.metaKey;
  return !press.shiftKey && !(apple ? press.ctrlKey : press.metaKey);
}

/** Only Space has an action of its own to keep from happening; a shortcut is never in the way. */
export const isNativeKey = (wanted: TalkKey): boolean => wanted === 'space';
