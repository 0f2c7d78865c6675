// One connection of a call: the microphone's track out, the tutor's in, RTVI both ways. Never comes back: after a loss
// another one takes its place, because the server has no ICE restart and adopts the lesson instead.
import { call, farewell } from './api.ts';
import { envelope, parse, type ServerSays } from './protocol.ts';

export type Target = { sessionId: string; topicId: string; title: string; style?: string };
export type PeerListener = {
  /** The data channel is open. */
  opened(): void;
  said(message: ServerSays): void;
  sounded(track: MediaStreamTrack): void;
  /** Gone for good, and not by `close`. */
  lost(): void;
};

const HEARTBEAT_MS = 1_000;
const DEAD_AFTER_BEATS = 3;
const SELF_HEAL_MS = 1_000;
const CONNECT_DEADLINE_MS = 12_000;
const FLUSH_MS = 200;

export type Report = Record<string, unknown>;

export async function reportsOf(pc: RTCPeerConnection): Promise<Report[]> {
  const reports: Report[] = [];
  (await pc.getStats()).forEach((report: Report) => reports.push(report));
  return reports;
}

/** Sum of one figure over all reports of a type; null where the browser does not report it. */
export function sumOf(reports: readonly Report[], type: string, figure: string): number | null {
  const values = reports.filter((report) => report.type === type).map((report) => report[figure]);
  const known = values.filter((value): value is number => typeof value === 'number');
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

export class Peer {
  #id = '';
  #closed = false;
  #deadline = 0;
  #heartbeat = 0;
  #received = 0;
  #stillBeats = 0;
  readonly #pc: RTCPeerConnection;
  readonly #channel: RTCDataChannel;
  readonly #on: PeerListener;

  constructor(iceServers: RTCIceServer[], mic: MediaStreamTrack, on: PeerListener) {
    this.#on = on;
    const pc = this.#pc = new RTCPeerConnection({ iceServers });
    const channel = this.#channel = pc.createDataChannel('chat', { ordered: true });
    pc.addTrack(mic, new MediaStream([mic]));
    pc.ontrack = ({ track }) => { if (!this.#closed) on.sounded(track); };
    pc.onconnectionstatechange = () => {
      if (pc.connectionState === 'failed' || pc.connectionState === 'closed') this.#lose();
      if (pc.connectionState === 'disconnected') setTimeout(() => { if (pc.connectionState === 'disconnected') this.#lose(); }, SELF_HEAL_MS);
    };
    channel.onopen = () => { if (!this.#closed) this.#opened(); };
    channel.onclose = () => this.#lose();
    channel.onmessage = ({ data }) => {
      const message = !this.#closed && typeof data === 'string' ? parse(data) : null;
      if (message !== null) on.said(message);
    };
    this.#deadline = window.setTimeout(() => { if (channel.readyState !== 'open') this.#lose(); }, CONNECT_DEADLINE_MS);
  }

  get connected(): boolean { return this.#pc.connectionState === 'connected'; }
  get broken(): boolean { return ['failed', 'disconnected', 'closed'].includes(this.#pc.connectionState); }
  /** A way through the network was found. */
  get reached(): boolean { return ['connected', 'completed'].includes(this.#pc.iceConnectionState); }
  get canSend(): boolean { return this.#channel.readyState === 'open'; }
  get closed(): boolean { return this.#closed; }

  /** Makes the offer at once, without candidates, and takes the answer. Raises CallFailed. */
  async dial({ sessionId, topicId, style }: Target): Promise<void> {
    await this.#pc.setLocalDescription();
    const { sdp, type } = this.#pc.localDescription!;
    const answer = await call<{ sdp: string; type: 'answer'; pc_id: string }>('offer', {
      sdp, type, requestData: { sessionId, topicId, ...(style === undefined ? {} : { style }) },
    });
    if (this.#closed) return farewell('rtcClose', { pc_id: answer.pc_id });
    this.#id = answer.pc_id;
    await this.#pc.setRemoteDescription({ type: 'answer', sdp: answer.sdp });
  }

  send(type: string, data: object, id: string): void { this.#channel.send(envelope(type, data, id)); }

  reports(): Promise<Report[]> { return reportsOf(this.#pc); }

  /** Another microphone on the same connection. */
  async carry(mic: MediaStreamTrack): Promise<void> {
    await this.#pc.getSenders().find((sender) => sender.track?.kind !== 'video')?.replaceTrack(mic);
  }

  /** `gracefully` tells the server, which otherwise waits for somebody to come back. */
  close(gracefully: boolean): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#deadline);
    clearInterval(this.#heartbeat);
    if (gracefully && this.#id !== '') farewell('rtcClose', { pc_id: this.#id });
    if (gracefully && this.canSend) setTimeout(() => this.#pc.close(), FLUSH_MS);
    else this.#pc.close();
  }

  #opened(): void {
    clearTimeout(this.#deadline);
    this.#on.opened();
    this.#heartbeat = window.setInterval(() => {
      if (this.canSend) this.send('client-message', { t: 'ping' }, 'ping');
      void this.#watchForDeath();
    }, HEARTBEAT_MS);
  }

  #lose(): void { if (!this.#closed) this.#on.lost(); }

  /** Every heartbeat is acknowledged by the other end; when not a byte comes back it is gone, long before ICE says so. */
  async #watchForDeath(): Promise<void> {
    const received = sumOf(await this.reports(), 'candidate-pair', 'bytesReceived');
    if (received === null || this.#closed) return;
    this.#stillBeats = received === this.#received ? this.#stillBeats + 1 : 0;
    this.#received = received;
    if (this.#stillBeats >= DEAD_AFTER_BEATS) this.#lose();
  }
}
