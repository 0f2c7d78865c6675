import assert from 'node:assert/strict';
import test from 'node:test';

// The store reads what this browser has kept.
const page = (name: string, value: unknown): void => { Object.defineProperty(globalThis, name, { value, configurable: true, writable: true }); };
const nothingKept = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
page('localStorage', nothingKept);
page('sessionStorage', nothingKept);
page('navigator', { onLine: true, userAgent: '', maxTouchPoints: 0 });
const { chooseFile, chooseKind, file, paste, problem, removeFile, topic, write } = await import('../src/picker-draft.ts');
const { dispatch, state } = await import('../src/store.ts');

test('an old error never stands beside a new source', () => {
  const changes: [string, () => void][] = [
    ['a file is chosen', () => chooseFile(new File(['x'], 'a.txt'))], ['it is removed', removeFile], ['the text is edited', () => write(paste, 'Cold.')],
    ['the topic is edited', () => write(topic, 'Tides')], ['another kind is chosen', () => chooseKind('core')],
  ];
  for (const [what, change] of changes) {
    dispatch({ type: 'groundingEnded', problem: 'There are no sentences to read in this text.' });
    change();
    assert.deepEqual([state.value.groundingProblem, problem.value], [null, ''], what);
  }
  assert.deepEqual([file.value, paste.value, topic.value], [null, 'Cold.', 'Tides']);
});

test('a file that cannot be read is not kept, and says why; one that was not chosen after all changes nothing', () => {
  chooseFile(new File(['x'], 'a.exe'));
  assert.notEqual(problem.value, '');
  assert.equal(file.value, null);
  const said = problem.value;
  chooseFile(undefined);
  assert.equal(problem.value, said);
  removeFile();
  assert.equal(problem.value, '');
});
