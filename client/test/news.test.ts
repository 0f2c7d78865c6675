import assert from 'node:assert/strict';
import test from 'node:test';
import { CATALOG_ACTIONS, FILTERS, filtered, outcome, recency, STATUS_LABEL, type NewsItem } from '../src/news.ts';
import { costOf, tokensOf, whoOf } from '../src/usage.ts';

// @req UI-11
test('UI-11: how fresh a suggestion is, in local time', () => {
  const now = new Date(2026, 10, 30, 18, 0);
  assert.equal(recency(new Date(2026, 10, 30, 9, 5).toISOString(), now), 'updated 09:05 today');
  assert.equal(recency(new Date(2026, 2, 4, 9, 5).toISOString(), now), 'updated 3/4');
  assert.equal(recency(new Date(2025, 10, 30, 9, 5).toISOString(), now), 'updated 11/30');
  assert.deepEqual([recency(null, now), recency(undefined, now), recency('soon', now)], ['', '', '']);
});

test('a run says which themes could not be searched and why, each reason once', () => {
  const because = (...themes: string[]) => themes.map((theme) => ({ theme, message: theme === 'art' ? 'Busy.' : 'No search.' }));
  assert.deepEqual(outcome({ generated: 0, errors: [] }), { text: 'The pipeline found 0 new topics.', tone: 'plain' });
  assert.deepEqual(outcome({ generated: 0, errors: because('space', 'health') }), { text: 'Not searched: space, health. No search.', tone: 'error' });
  assert.deepEqual(outcome({ generated: 2, errors: because('space', 'art') }),
    { text: 'The pipeline found 2 new topics. Not searched: space. No search. Not searched: art. Busy.', tone: 'error' });
});

// @req UI-53 API-43
test('UI-53: publish, hide, enable', () => {
  const actions = Object.fromEntries(Object.entries(CATALOG_ACTIONS).map(([from, { label, leadsTo }]) => [from, [label, leadsTo]]));
  assert.deepEqual(actions, { draft: ['Publish', 'active'], active: ['Hide', 'disabled'], disabled: ['Enable', 'active'] });
});

// @req UI-50 UI-10
test('UI-50: filters, and none of them cuts the list', () => {
  assert.deepEqual(FILTERS.map((name) => STATUS_LABEL[name]), ['all', 'draft', 'active', 'disabled']);
  const items: NewsItem[] = Array.from({ length: 120 }, (_, i) => ({ id: `${i}`, title: 't', status: i % 3 === 0 ? 'draft' : 'active' }));
  assert.deepEqual([filtered(items, 'all').length, filtered(items, 'draft').length, filtered(items, 'active').length, filtered(items, 'disabled').length], [120, 40, 80, 0]);
});

// @req UI-48
test('UI-48: who it was and what it took', () => {
  const uid = 'abcdefghij';
  assert.equal(whoOf({ uid, displayName: 'Ada', email: 'a@x' }), 'Ada');
  assert.equal(whoOf({ uid, email: 'a@x' }), 'a@x');
  assert.equal(whoOf({ uid, displayName: '', email: '' }), 'user abcdefgh');
  assert.equal(tokensOf({ uid, geminiCallCount: 1, geminiInputTokens: 1200, geminiOutputTokens: 30, geminiThoughtTokens: 4 }), '1,200 in · 30 out · 4 think');
  assert.equal(tokensOf({ uid, geminiCallCount: 1, geminiInputTokens: 7 }), '7 in · 0 out · 0 think');
  assert.equal(tokensOf({ uid, geminiCallCount: 1 }), 'no token data yet');
});

test('money is told where it is known, and as a lower bound where some is not', () => {
  const row = { uid: 'ada', geminiCallCount: 1 };
  assert.equal(costOf([row]), '');
  assert.equal(costOf([{ ...row, costUsd: 0 }]), '$0.00');
  assert.equal(costOf([{ ...row, costUsd: 0.0125 }, { ...row, costUsd: 1.2 }, row]), '$1.21');
  assert.equal(costOf([{ ...row, costUsd: 0.0125, unpricedTokens: 7 }]), 'at least $0.0125');
});
