// The connection part of the sound check: what the network lets through before a call, and how the call does in one.
import { useEffect, useState } from 'preact/hooks';
import { state } from './actions.ts';
import { read } from './api.ts';
import { CallFailed } from './errors.ts';
import { verdict, type Quality } from './quality.ts';
import { askReach, offersRelay, type Reach } from './reach.ts';
import { S } from './strings.ts';
import { relays } from './voice.ts';

const VERDICT = { good: S.checkGood, lossy: S.checkLossy, slow: S.checkSlow, unknown: '' } as const;
const REACH: Record<Reach, string> = { open: S.checkOpen, relay: S.checkRelayNeeded, shut: S.checkShut, unknown: '' };

/** How long the server takes to answer; the second of two asks, because the first one may have to connect. Null when out of reach. */
async function answerMs(): Promise<number | null> {
  try {
    await read('identity');
    const asked = performance.now();
    await read('identity');
    return Math.round(performance.now() - asked);
  } catch (failure) {
    if (failure instanceof CallFailed) return null;
    throw failure;
  }
}

type Before = { reach: Reach; relay: boolean; delayMs: number | null };

async function lookAhead(): Promise<Before> {
  const servers = await relays();
  const [reach, delayMs] = await Promise.all([askReach(servers), answerMs()]);
  return { reach, relay: offersRelay(servers), delayMs };
}

const joined = (...figures: string[]): string => figures.filter(Boolean).join(' · ');

function Ahead({ before }: { before: Before | null }) {
  if (before === null) return <p role="status">{S.checkLooking}</p>;
  const { reach, relay, delayMs } = before;
  if (delayMs === null) return <p class="problem" role="alert">{S.errorOffline}</p>;
  return (
    <>
      <p role="status">{joined(REACH[reach], verdict({ level: null, relayed: null, lossPercent: null, rttMs: delayMs }) === 'slow' ? S.checkSlow : '') || S.checkNotConnected}</p>
      <p class="hint">{S.checkDelay(delayMs)}</p>
      {reach !== 'open' && <p class="hint">{relay ? S.checkRelayOffered : S.checkNoRelay}</p>}
    </>
  );
}

export function ConnectionCheck({ quality }: { quality: Quality }) {
  const [before, setBefore] = useState<Before | null>(null);
  const measured = state.value.voice.link === 'connected' && quality.relayed !== null;
  useEffect(() => {
    let ended = false;
    void lookAhead().then((found) => { if (!ended) setBefore(found); });
    return () => { ended = true; };
  }, []);
  return (
    <section class="check">
      <h3>{S.connection}</h3>
      {measured
        ? <>
            <p>{quality.relayed ? S.checkRelayed : S.checkDirect} {VERDICT[verdict(quality)]}</p>
            <p class="hint">{joined(quality.rttMs === null ? '' : S.checkDelay(quality.rttMs), quality.lossPercent === null ? '' : S.checkLoss(quality.lossPercent))}</p>
          </>
        : <Ahead before={before} />}
    </section>
  );
}
