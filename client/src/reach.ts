// Whether this network lets voice out, asked of the installation's own STUN and TURN servers before any call.
export type Found = { type: string; relayProtocol: string | null };
/** `open`: sound finds a direct way. `relay`: only through a relay over TCP. `shut`: the servers were not reached.
    `unknown`: there is nothing to ask, or no answer that says anything. */
export type Reach = 'open' | 'relay' | 'shut' | 'unknown';

const GATHER_MS = 4_000;

/** What the candidates of this browser mean. `unreached`: a server was asked and did not answer. Pure. */
export function reachOf(found: readonly Found[], unreached: boolean): Reach {
  if (found.some(({ type, relayProtocol }) => type === 'srflx' || (type === 'relay' && relayProtocol === 'udp'))) return 'open';
  if (found.some(({ type }) => type === 'relay')) return 'relay';
  return unreached ? 'shut' : 'unknown';
}

export const offersRelay = (servers: readonly RTCIceServer[]): boolean => servers.flatMap(({ urls }) => urls).some((url) => /^turns?:/.test(url));

/** Gathers for at most GATHER_MS; no microphone and no call are needed. */
export async function askReach(servers: RTCIceServer[]): Promise<Reach> {
  if (servers.length === 0 || typeof RTCPeerConnection === 'undefined') return 'unknown';
  const pc = new RTCPeerConnection({ iceServers: servers });
  const found: Found[] = [];
  let unreached = false;
  try {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, GATHER_MS);
      pc.onicecandidateerror = () => { unreached = true; };
      pc.onicecandidate = ({ candidate }) => {
        if (candidate === null) return resolve();
        if (candidate.type !== null) found.push({ type: candidate.type, relayProtocol: (candidate as { relayProtocol?: string | null }).relayProtocol ?? null });
      };
      pc.createDataChannel('reach');
      pc.setLocalDescription().catch(() => resolve());
    });
  } finally {
    pc.close();
  }
  return reachOf(found, unreached);
}
