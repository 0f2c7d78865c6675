import assert from 'node:assert/strict';
import test from 'node:test';
import { deniedText, familyOf, isBluetooth, type Family } from '../src/browser.ts';
import { skewMs, span } from '../src/clock.ts';
import { voiceProblemText } from '../src/errors.ts';
import { googleProblem } from '../src/google.ts';
import { qualityOf, verdict } from '../src/quality.ts';
import { offersRelay, reachOf } from '../src/reach.ts';

const IOS = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15';
const ANDROID = 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko)';

test('which browser has to be told what', () => {
  const cases: [Family, string, number?][] = [
    ['ios-safari', `${IOS} Version/18.7 Mobile/15E148 Safari/604.1`], ['ios-other', `${IOS} CriOS/141.0 Mobile/15E148 Safari/604.1`],
    ['ios-other', `${IOS} FxiOS/141.0 Mobile/15E148 Safari/604.1`], ['in-app', `${IOS} Mobile/15E148 Instagram 360.0`],
    ['in-app', `${IOS} Mobile/15E148`], ['in-app', `${ANDROID} Version/4.0 Chrome/141 Mobile Safari/537.36 [FBAN/FB4A]`],
    ['in-app', 'Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 Chrome/141 Mobile Safari/537.36'],
    ['mac-safari', MAC, 0], ['ios-safari', MAC, 5], ['android', `${ANDROID} Chrome/141.0 Mobile Safari/537.36`],
    ['firefox', 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0'],
    ['chromium', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36'], ['other', 'curl/8'],
  ];
  for (const [family, userAgent, touch] of cases) assert.equal(familyOf(userAgent, touch), family, userAgent);
  assert.equal(new Set(cases.map(([family]) => deniedText(family))).size, 8);
  assert.equal(voiceProblemText('NotAllowedError', 'firefox'), deniedText('firefox'));
});

test('wireless headsets by their names', () => {
  assert.deepEqual(['AirPods Pro', 'Headset (WH-1000XM5 Hands-Free)', 'Galaxy Buds2', 'Built-in Microphone', 'USB Audio', ''].map(isBluetooth),
    [true, true, true, false, false, false]);
});

test('a clock that is off, from the date of an answer', () => {
  const server = 'Mon, 30 Nov 2026 18:00:00 GMT';
  const at = Date.parse(server);
  assert.equal(skewMs(server, at + 4 * 60_000), null);
  assert.equal(skewMs(server, at + 3 * 3_600_000), 3 * 3_600_000);
  assert.equal(skewMs(server, at - 3 * 3_600_000), -3 * 3_600_000);
  assert.deepEqual([skewMs(null, at), skewMs('soon', at)], [null, null]);
  assert.deepEqual([span(420_000), span(-3 * 3_600_000), span(72 * 3_600_000)],
    [{ count: 7, unit: 'minute' }, { count: 3, unit: 'hour' }, { count: 3, unit: 'day' }]);
});

test('statistics of a connection in words', () => {
  const reports = [
    { type: 'media-source', kind: 'audio', audioLevel: 0.25 }, { type: 'inbound-rtp', kind: 'audio', packetsReceived: 95, packetsLost: 5 },
    { type: 'transport', id: 'T', selectedCandidatePairId: 'P' },
    { type: 'candidate-pair', id: 'Q', currentRoundTripTime: 9 },
    { type: 'candidate-pair', id: 'P', currentRoundTripTime: 0.0421, localCandidateId: 'L', remoteCandidateId: 'R' },
    { type: 'local-candidate', id: 'L', candidateType: 'relay' }, { type: 'remote-candidate', id: 'R', candidateType: 'host' },
  ];
  assert.deepEqual(qualityOf(reports), { level: 0.25, relayed: true, rttMs: 42, lossPercent: 5 });
  const firefox = [{ type: 'candidate-pair', id: 'P', nominated: true, state: 'succeeded', localCandidateId: 'L' }, { type: 'local-candidate', id: 'L', candidateType: 'host' }];
  assert.deepEqual(qualityOf(firefox), { level: null, relayed: false, rttMs: null, lossPercent: null });
  assert.deepEqual(qualityOf([]), { level: null, relayed: null, rttMs: null, lossPercent: null });
  const of = (rttMs: number | null, lossPercent: number | null): string => verdict({ level: null, relayed: null, rttMs, lossPercent });
  assert.deepEqual([of(40, 0.1), of(40, 8), of(500, 0), of(null, null)], ['good', 'lossy', 'slow', 'unknown']);
});

test('before a call: what the candidates of a browser say of its network', () => {
  const udp = { type: 'relay', relayProtocol: 'udp' };
  const tcp = { type: 'relay', relayProtocol: 'tls' };
  const host = { type: 'host', relayProtocol: null };
  assert.equal(reachOf([host, { type: 'srflx', relayProtocol: null }], true), 'open');
  assert.equal(reachOf([host, udp, tcp], false), 'open', 'UDP got out, if only to the relay');
  assert.equal(reachOf([host, tcp], true), 'relay');
  assert.equal(reachOf([host], true), 'shut');
  assert.equal(reachOf([host], false), 'unknown', 'a STUN server beside us finds nothing new');
  assert.equal(offersRelay([{ urls: 'stun:a:1' }, { urls: ['turns:b:2'] }]), true);
  assert.equal(offersRelay([{ urls: 'stun:a:1' }]), false);
});

// @req AUTH-1 UI-5
test('what came back from Google, by the address', () => {
  const codes = ['cancelled', 'expired', 'browser', 'refused', 'account', 'unavailable', 'setup', 'busy'];
  const told = codes.map((code) => googleProblem(`#/signin?error=${code}`));
  assert.equal(new Set(told).size, codes.length);
  assert.equal(googleProblem('#/signin?error=novel'), googleProblem('#/signin?error=refused'));
  assert.deepEqual(['', '#/signin', '#/signin/abc', '#/signin?error=<b>'].map(googleProblem), ['', '', '', '']);
});
