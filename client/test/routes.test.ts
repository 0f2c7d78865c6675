import assert from 'node:assert/strict';
import test from 'node:test';
import { hashOf, historyStep, tabOf } from '../src/routes.ts';

test('every tab has an address, and the chat the bare one', () => {
  for (const tab of ['chat', 'history', 'admin'] as const) assert.equal(tabOf(hashOf(tab)), tab);
  assert.equal(hashOf('chat'), '');
  assert.equal(tabOf('#/chat'), 'chat');
});

test('links that let people in are no tabs, and the history is left alone while one is used', () => {
  for (const hash of ['#/signin', '#/signin/abc', '#/invite/abc', '#/signin?error=cancelled', '#/novel']) {
    assert.equal(tabOf(hash), null);
    assert.equal(historyStep(hash, 'chat', false), 'keep');
  }
});

test('another tab is another entry; one that nobody may see leaves none', () => {
  assert.equal(historyStep('', 'history', false), 'push');
  assert.equal(historyStep('#/history', 'history', false), 'keep');
  assert.equal(historyStep('#/chat', 'chat', false), 'keep');
  assert.equal(historyStep('#/admin', 'chat', true), 'push');
  assert.equal(historyStep('#/admin', 'chat', false), 'replace');
});
