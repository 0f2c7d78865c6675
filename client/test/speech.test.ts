import assert from 'node:assert/strict';
import test, { mock } from 'node:test';
import { Dictation, joined, SENTENCE_PAUSE_MS } from '../src/dictation.ts';
import { Hold, HOLD_MS } from '../src/hold.ts';
import { CHUNK_CHARS_MAX, chunksOf } from '../src/reading.ts';
import { isApple, isNativeKey, isTalkKey, isTalkPress, type Press, type TalkKey } from '../src/talk-key.ts';

// @req VOICE-47
test('VOICE-47: pieces to read aloud keep the text, fit, and end with sentences', () => {
  const sentence = 'Cold water is heavier than warm water, so it sinks to the bottom of the sea. ';
  const texts = [
    '', 'Hi.', sentence.repeat(40), 'word '.repeat(400), 'x'.repeat(2_000), '🐦'.repeat(700), 'No end', '“Why?” he asked. Because… it 3.5 sinks!\n\nAnd then?',
    `${'a'.repeat(449)}. ${'b'.repeat(10)}.`, '... ... ...',
  ];
  for (const text of texts) {
    const chunks = chunksOf(text);
    assert.equal(chunks.join(''), text);
    assert.ok(chunks.every((chunk) => chunk.length > 0 && chunk.length <= CHUNK_CHARS_MAX));
    assert.ok(chunks.every((chunk) => chunk.isWellFormed()));
  }
  assert.ok(chunksOf(sentence.repeat(40)).every((chunk) => chunk.endsWith('sea. ')));
  assert.ok(chunksOf('word '.repeat(400)).every((chunk) => chunk.endsWith(' ')));
});

// @req VOICE-46
test('VOICE-46: words at the seam are taken once', () => {
  assert.equal(joined('the deep', 'deep ocean'), 'the deep ocean');
  assert.equal(joined('The deep,', 'deep ocean'), 'The deep, ocean');
  assert.equal(joined('so cold water sinks', 'cold water sinks because'), 'so cold water sinks because');
  assert.equal(joined('', 'hello'), 'hello');
  assert.equal(joined('hello', ' '), 'hello');
  assert.equal(joined('one', 'two'), 'one two');
  assert.equal(joined('— —', '— x'), '— — — x');
});

// @req VOICE-46
test('VOICE-46: two seconds of silence end a sentence, a restart of the recogniser does not', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const interim: string[] = [];
  const sentences: string[] = [];
  const dictation = new Dictation((words) => interim.push(words), (words) => sentences.push(words));
  dictation.heard('', 'the de');
  dictation.heard('', 'the deep');
  mock.timers.tick(SENTENCE_PAUSE_MS - 1);
  dictation.restarted();
  dictation.heard('deep ocean', '');
  mock.timers.tick(SENTENCE_PAUSE_MS - 1);
  assert.deepEqual(sentences, []);
  mock.timers.tick(1);
  assert.deepEqual(sentences, ['the deep ocean']);
  assert.deepEqual(interim, ['the de', 'the deep', 'the deep ocean', '']);
  dictation.heard('never mind', '');
  dictation.drop();
  mock.timers.tick(10 * SENTENCE_PAUSE_MS);
  assert.equal(sentences.length, 1);
  mock.timers.reset();
});

// @req OWN-27 TOOL-30
test('OWN-27: 499 ms is a tap, 500 ms claims, and where it may not it never does', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  let may = true;
  const told: boolean[] = [];
  const hold = new Hold(() => may, (down) => told.push(down));
  hold.pressed(false);
  mock.timers.tick(HOLD_MS - 1);
  assert.equal(hold.released(), false, 'a tap stays native');
  mock.timers.tick(HOLD_MS);
  assert.deepEqual(told, []);

  assert.equal(hold.pressed(false), false);
  mock.timers.tick(HOLD_MS - 1);
  assert.equal(hold.claimed, false);
  mock.timers.tick(1);
  assert.equal(hold.claimed, true);
  assert.equal(hold.pressed(true), true, 'a repeated key does not scroll the page');
  assert.equal(hold.released(), true, 'the release clicks nothing');
  assert.deepEqual(told, [true, false]);
  assert.equal(hold.released(), false);

  hold.pressed(false);
  may = false;
  mock.timers.tick(HOLD_MS);
  assert.equal(hold.claimed, false, 'the call ended meanwhile');
  hold.pressed(false);
  mock.timers.tick(2 * HOLD_MS);
  assert.deepEqual(told, [true, false]);
  mock.timers.reset();
});

const press = (key: string, held: Partial<Press> = {}): Press =>
  ({ code: key === ' ' ? 'Space' : key, key, altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, isComposing: false, ...held });

// @req TOOL-30 OWN-27
test('TOOL-30: Space by default, Command or Ctrl by choice, and never with another key', () => {
  const talks = (wanted: TalkKey, apple: boolean, ...keys: Press[]): boolean[] => keys.map((key) => isTalkPress(key, wanted, apple));
  assert.deepEqual(talks('space', false, press(' '), press(' ', { ctrlKey: true }), press(' ', { metaKey: true }), press(' ', { altKey: true }), press('a')),
    [true, false, false, false, false]);
  assert.deepEqual(talks('modifier', false, press('Control', { ctrlKey: true }), press('Meta', { metaKey: true }), press(' ')), [true, false, false]);
  assert.deepEqual(talks('modifier', true, press('Meta', { metaKey: true }), press('Control', { ctrlKey: true })), [true, false]);
  // What makes a shortcut, in either order: the other key first, or the talk key first.
  for (const apple of [true, false]) {
    const key = apple ? 'Meta' : 'Control';
    const own = apple ? { metaKey: true } : { ctrlKey: true };
    assert.deepEqual(talks('modifier', apple, press(key, { ...own, shiftKey: true }), press(key, { ...own, altKey: true }), press(key, { ctrlKey: true, metaKey: true }),
      press('c', own), press('Tab', own)), [false, false, false, false, false]);
    assert.equal(isTalkKey(press(key), 'modifier', apple), true);
  }
  assert.equal(isTalkPress(press(' ', { isComposing: true }), 'space', false), false);
  assert.deepEqual([isNativeKey('space'), isNativeKey('modifier')], [true, false], 'a shortcut is never swallowed');
  assert.deepEqual(['MacIntel', 'iPhone', 'Win32', 'Linux x86_64'].map(isApple), [true, true, false, false]);
});

// @req TOOL-30
test('TOOL-30: a key that joins takes the hold back, before and after it claimed', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const told: boolean[] = [];
  const hold = new Hold(() => true, (down) => told.push(down));
  hold.pressed(false);
  mock.timers.tick(HOLD_MS - 1);
  hold.released();
  mock.timers.tick(HOLD_MS);
  assert.deepEqual(told, [], 'Ctrl+C is a copy');
  hold.pressed(false);
  mock.timers.tick(HOLD_MS);
  hold.released();
  assert.deepEqual(told, [true, false]);
  assert.equal(hold.pressed(true), false, 'still held after the shortcut: it stays a shortcut');
  mock.timers.tick(HOLD_MS);
  assert.deepEqual(told, [true, false]);
  mock.timers.reset();
});
