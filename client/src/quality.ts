// What the statistics of a connection mean for a person. Pure.
type Report = Record<string, unknown>;
export type Quality = {
  /** Microphone level 0..1; null where the browser does not tell. */
  readonly level: number | null;
  /** Whether the sound goes through a relay; null before a path is chosen. */
  readonly relayed: boolean | null;
  readonly rttMs: number | null;
  /** Share of the tutor's packets that were lost since the connection began, in per cent. */
  readonly lossPercent: number | null;
};

const figure = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);

export function qualityOf(reports: Iterable<Report>): Quality {
  const all = [...reports];
  const source = all.find((report) => report.type === 'media-source' && report.kind === 'audio');
  const inbound = all.find((report) => report.type === 'inbound-rtp' && report.kind === 'audio');
  const selected = all.find((report) => report.type === 'transport')?.selectedCandidatePairId;
  const pair = all.find((report) => report.type === 'candidate-pair'
    && (selected === undefined ? report.nominated === true && report.state === 'succeeded' : report.id === selected));
  const ends = all.filter((report) => report.id === pair?.localCandidateId || report.id === pair?.remoteCandidateId);
  const rtt = figure(pair?.currentRoundTripTime);
  const received = figure(inbound?.packetsReceived);
  const lost = figure(inbound?.packetsLost);
  return {
    level: figure(source?.audioLevel),
    relayed: pair === undefined ? null : ends.some((end) => end.candidateType === 'relay'),
    rttMs: rtt === null ? null : Math.round(rtt * 1000),
    lossPercent: received === null || lost === null || received + lost <= 0 ? null : Math.max(0, (100 * lost) / (received + lost)),
  };
}

const SLOW_MS = 300;
const LOSSY_PERCENT = 3;

export type Verdict = 'good' | 'lossy' | 'slow' | 'unknown';

export function verdict({ rttMs, lossPercent }: Quality): Verdict {
  if (lossPercent !== null && lossPercent >= LOSSY_PERCENT) return 'lossy';
  if (rttMs !== null && rttMs >= SLOW_MS) return 'slow';
  return rttMs === null && lossPercent === null ? 'unknown' : 'good';
}
