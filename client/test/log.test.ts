import assert from 'node:assert/strict';
import test from 'node:test';
import * as log from '../src/log.ts';

const CUT = '(cut)';
const shown = (entries: log.Log): string[] => log.lines(entries, CUT).map((line) => `${line.who}: ${line.text}`);

test('one bubble per side and exchange, ordered by first appearance of the turn', () => {
  let l: log.Log = [];
  l = log.learnerSaid(l, 'a', 'what', false);
  l = log.tutorSaid(l, 'a', 'It is', true);
  l = log.learnerSaid(l, 'b', 'and', false);
  l = log.learnerSaid(l, 'a', 'what is it', true);
  l = log.tutorSaid(l, 'a', 'It is water.', true);
  l = log.learnerSaid(l, 'b', 'and why', true);
  assert.deepEqual(shown(l), ['learner: what is it', 'tutor: It is water.', 'learner: and why']);
});

// @req RTC-14
test('RTC-14: deltas add up to the whole text, spacing kept', () => {
  let l: log.Log = [];
  for (const delta of ['Cold', ' water', ' sinks.']) l = log.tutorSaid(l, 'a', delta, false);
  assert.deepEqual(shown(l), ['tutor: Cold water sinks.']);
});

test('interim words are a line, not a bubble; noise leaves nothing', () => {
  let l = log.learnerSaid([], 'a', 'hm the', false);
  assert.equal(log.interimWords(l), 'hm the');
  assert.deepEqual(shown(l), []);
  l = log.learnerSaid(l, 'a', '', true);
  assert.equal(log.interimWords(l), '');
  assert.deepEqual(shown(l), []);
});

test('a late interim never overwrites the final words', () => {
  const l = log.learnerSaid(log.learnerSaid([], 'a', 'all of it', true), 'a', 'all', false);
  assert.deepEqual(shown(l), ['learner: all of it']);
});

// @req VOICE-39 UI-37
test('VOICE-39: an interrupted reply keeps only what was heard, marked once', () => {
  let l = log.tutorSaid([], 'a', 'One. Two. Three.', true);
  l = log.tutorInterrupted(l, '', null);
  l = log.tutorInterrupted(l, 'a', 'One.');
  l = log.turnSettled(l, { turnId: 'a', userText: 'hi', text: 'One.', interrupted: true });
  l = log.tutorSaid(l, 'a', 'One. Two. Three.', true);
  assert.deepEqual(shown(l), ['learner: hi', 'tutor: One.', `system: ${CUT}`]);
});

test('an interruption without a turn never marks an exchange that is over', () => {
  const l = log.turnSettled([], { turnId: 'a', userText: 'hi', text: 'One.', interrupted: false });
  assert.deepEqual(log.tutorInterrupted(l, '', null), l);
});

test('typed words wait, are adopted by the turn of the server, or fail and stay', () => {
  const waiting = log.typed([], 'mine', 'why?');
  const adopted = log.tutorSaid(log.learnerSaid(waiting, 'server-1', 'why?', true), 'server-1', 'Because.', true);
  assert.deepEqual(shown(adopted), ['learner: why?', 'tutor: Because.']);
  assert.equal(adopted[0]!.delivery, 'sent');
  const failed = log.deliveryFailed(waiting);
  assert.equal(failed[0]!.delivery, 'failed');
  assert.deepEqual(shown(failed), ['learner: why?']);
  assert.deepEqual(log.without(failed, 'mine'), []);
});

test('spoken words of another turn do not adopt typed ones', () => {
  const l = log.learnerSaid(log.typed([], 'mine', 'why?'), 'server-1', 'I see', true);
  assert.deepEqual(shown(l), ['learner: why?', 'learner: I see']);
});

test('messages without turn ids still make exchanges', () => {
  let l = log.learnerSaid([], '', 'hello', true);
  l = log.tutorSaid(l, '', 'Hi.', true);
  l = log.learnerSaid(l, '', 'go', false);
  l = log.learnerSaid(l, '', 'go on', true);
  assert.deepEqual(shown(l), ['learner: hello', 'tutor: Hi.', 'learner: go on']);
});

test('stored turns come back; the opening turn has no learner words', () => {
  assert.deepEqual(shown(log.restored([{ text: 'Begin?' }, { text: 'Right.', userText: 'Yes' }])),
    ['tutor: Begin?', 'learner: Yes', 'tutor: Right.']);
});

test('exchanges of another window take their stored place, and what is here stays as it is', () => {
  const turn = (userText: string, text: string) => ({ userText, text });
  const here = log.turnSettled(log.restored([turn('', 'Begin?')]), { turnId: 'v', userText: 'a', text: 'Cold', unheard: 'water.', interrupted: true });
  const stored = [turn('', 'Begin?'), turn('b', 'Yes.'), turn('a', 'Cold'), turn('c', 'No.')];
  const merged = log.caughtUp(here, stored)!;
  assert.deepEqual(merged.map(({ tutor, unheard }) => [tutor, unheard]), [['Begin?', ''], ['Yes.', ''], ['Cold', 'water.'], ['No.', '']]);
  assert.equal(new Set(merged.map(({ key }) => key)).size, 4);
  assert.equal(log.caughtUp(merged, stored), null, 'nothing new');
  const failed = log.deliveryFailed(log.typed(here, 'mine', 'why?'));
  assert.deepEqual(log.caughtUp(failed, stored)!.map(({ learner }) => learner), ['', 'b', 'a', 'c', 'why?']);
});

test('nothing is added while an exchange is under way, nor to a log that is not stored as it is', () => {
  const here = log.restored([{ text: 'Begin?' }]);
  const stored = [{ text: 'Begin?' }, { userText: 'a', text: 'Cold.' }];
  assert.equal(log.caughtUp(log.learnerSaid(here, 'v', 'a', false), stored), null, 'its own words may be what is stored');
  assert.equal(log.caughtUp(log.typed(here, 'mine', 'a'), stored), null);
  assert.equal(log.caughtUp(log.turnSettled(here, { turnId: 'v', userText: 'x', text: 'Not saved.', interrupted: false }), stored), null);
});

test('a new lesson begins its own exchanges although it counts from one again', () => {
  const first = log.tutorSaid(log.learnerSaid([], 'turn-1', 'hi', true), 'turn-1', 'Hello.', true);
  const again = log.tutorSaid(log.sealed(first, false), 'turn-1', 'Welcome back.', true);
  assert.deepEqual(shown(again), ['learner: hi', 'tutor: Hello.', 'tutor: Welcome back.']);
  assert.equal(new Set(log.lines(again, CUT).map((line) => line.key)).size, 3);
});

test('a lesson that survives its connection goes on with the exchange under way', () => {
  let l = log.turnSettled([], { turnId: 'turn-1', userText: 'hi', text: 'Hello.', interrupted: false });
  l = log.tutorSaid(l, 'turn-2', 'So', true);
  l = log.tutorSaid(log.sealed(l, true), 'turn-2', 'So why?', true);
  assert.deepEqual(shown(l), ['learner: hi', 'tutor: Hello.', 'tutor: So why?']);
  assert.deepEqual(shown(log.tutorSaid(l, 'turn-1', 'New.', true)).at(-1), 'tutor: New.');
});

test('what was not heard stays apart, and says where to go on', () => {
  const cut = log.turnSettled([], { turnId: 'a', userText: 'hi', text: 'One two.', unheard: ' Three four.', interrupted: true });
  const reply = log.lines(cut, CUT).find((line) => line.who === 'tutor');
  assert.deepEqual(reply, { key: '0:a:tutor', who: 'tutor', text: 'One two.', unheard: 'Three four.', cut: true, turnId: 'a', settled: true });
  const whole = log.turnSettled([], { turnId: 'a', userText: 'hi', text: 'One.', unheard: ' Two.', interrupted: false });
  assert.equal(whole[0]!.unheard, '');
  const again = log.turnSettled(cut, { turnId: 'b', userText: 'yes', text: 'Five.', unheard: 'Six.', interrupted: true });
  assert.deepEqual(log.lines(again, CUT).filter((line) => line.who === 'tutor').map((line) => line.cut), [false, true], 'only the last one is offered');
  assert.equal(log.lastWords('a b c d e f g h i j'), 'c d e f g h i j');
});

test('only exchanges of the running call can be replayed', () => {
  const l = log.sealed(log.turnSettled([], { turnId: 'turn-1', userText: '', text: 'Hello.', interrupted: false }), false);
  assert.deepEqual(['turn-1', l[0]!.turnId, 'stored-0', 'typed-1'].map(log.isOfThisCall), [true, false, false, false]);
});
