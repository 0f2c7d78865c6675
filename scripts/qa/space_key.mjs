// The page's own rules of the Space key, without a page: lines in ("down", "repeat", "up"), one line out for each change.
import { createInterface } from 'node:readline';
import { Hold } from '../../client/src/hold.ts';
import { isTalkPress } from '../../client/src/talk-key.ts';

const space = { code: 'Space', key: ' ', altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, isComposing: false };
const hold = new Hold(() => true, (down) => console.log(down ? 'talk' : 'done'));
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'up') hold.released();
  else if (isTalkPress(space, 'space', false)) hold.pressed(line === 'repeat');
}
