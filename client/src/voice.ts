// One voice call: microphone in, the tutor's voice out, RTVI both ways. Survives what phones do to it.
// Never decodes sound: the remote track plays in the page's one <audio> element.
import { call, farewell, read } from './api.ts';
import { capture } from './devices.ts';
import { CallFailed } from './errors.ts';
import { backoffS, envelope, LIBRARY, parse, RTVI_VERSION, type ServerSays } from './protocol.ts';
import { qualityOf, type Quality } from './quality.ts';

export type Link = 'connecting' | 'connected' | 'reconnecting' | 'paused' | 'silenced' | 'off';
export type Target = { sessionId: string; topicId: string; title: string; style?: string };
export type Listener = {
  link(link: Link): void;
  heard(message: ServerSays): void;
  failed(problem: string, failure?: CallFailed): void;
};

/** Mono with echo cancellation; 16 kHz is a hint that a browser may ignore. */
export const CAPTURE: MediaTrackConstraints = {
  channelCount: 1, sampleRate: { ideal: 16_000 }, echoCancellation: true, noiseSuppression: true, autoGainControl: true,
};

const HEARTBEAT_MS = 1_000;
const DEAD_AFTER_BEATS = 3;
const SELF_HEAL_MS = 1_000;
const RELAYS_DEADLINE_MS = 3_000;
const CONNECT_DEADLINE_MS = 12_000;
/** Answered, and yet no packet in this time: the network lets no voice through. */
const BLOCKED_AFTER_MS = 10_000;
const FLUSH_MS = 200;
const SILENT_MIC_MS = 5_000;
const TRIES_MAX = 12;
const FIRST_TRIES_MAX = 4;
const FINAL = new Set(['unauthenticated', 'permission-denied', 'invalid-argument', 'not-found', 'failed-precondition', 'resource-exhausted']);

/** STUN and TURN servers of this installation; none when they cannot be had, which is fine on most networks. */
async function relays(): Promise<RTCIceServer[]> {
  try {
    return (await read<{ iceServers: RTCIceServer[] }>('ice-servers', RELAYS_DEADLINE_MS)).iceServers;
  } catch (failure) {
    if (failure instanceof CallFailed) return [];
    throw failure;
  }
}

/** Sum of one figure over all reports of a type; null where the browser does not report it. */
async function sumOf(pc: RTCPeerConnection, type: string, figure: string): Promise<number | null> {
  let sum: number | null = null;
  (await pc.getStats()).forEach((report: Record<string, unknown>) => {
    const value = report.type === type ? report[figure] : undefined;
    if (typeof value === 'number') sum = (sum ?? 0) + value;
  });
  return sum;
}

type AudioSession = { type: string };
type Peer = { pc: RTCPeerConnection; channel: RTCDataChannel; id: string; timer: number; heartbeat: number; received: number; stillBeats: number };

export class VoiceCall {
  #target: Target | null = null;
  #peer: Peer | null = null;
  #mic: MediaStreamTrack | null = null;
  #wake: WakeLockSentinel | null = null;
  #tries = 0;
  #wasConnected = false;
  #serial = 0;
  #relays: Promise<RTCIceServer[]> = Promise.resolve([]);
  #retry = 0;
  #blocked = 0;
  /** The browser wants one more tap before it plays sound. */
  #heldBack = false;
  readonly #out: HTMLAudioElement;
  readonly #on: Listener;

  constructor(out: HTMLAudioElement, on: Listener) {
    this.#out = out;
    this.#on = on;
    out.addEventListener('pause', () => { if (this.#target !== null && out.srcObject !== null) this.#play(); });
    document.addEventListener('visibilitychange', () => { if (document.visibilityState === 'visible') this.#cameBack(); });
    addEventListener('pagehide', () => this.stop());
    addEventListener('online', () => { if (this.#target !== null && this.#mic !== null) this.#reconnect(0); });
    navigator.mediaDevices?.addEventListener('devicechange', () => {
      if (this.#target !== null && this.#mic?.readyState === 'ended') void this.recover();
    });
  }

  get running(): boolean { return this.#target !== null; }
  get canSend(): boolean { return this.#peer?.channel.readyState === 'open'; }

  /** Call inside a tap: the browser grants sound and the microphone only to a gesture. */
  async start(target: Target): Promise<void> {
    if (this.#target !== null) return;
    if (!window.isSecureContext || navigator.mediaDevices === undefined) return this.#on.failed('insecure');
    if (typeof RTCPeerConnection === 'undefined') return this.#on.failed('unsupported');
    this.#target = target;
    this.#tries = 0;
    this.#wasConnected = false;
    this.#on.link('connecting');
    this.#out.srcObject = new MediaStream();
    this.#play();
    const session = (navigator as { audioSession?: AudioSession }).audioSession;
    if (session !== undefined) session.type = 'play-and-record';
    void this.#stayAwake();
    this.#relays = relays();
    try {
      await this.#listen();
    } catch (failure) {
      return this.#fail(failure instanceof DOMException ? failure.name : 'microphone');
    }
    if (this.#target === target) await this.#connect();
  }

  /** Call inside a tap after a phone call, a locked screen or blocked sound: a new track only if the old one died. */
  async recover(): Promise<void> {
    if (this.#target === null) return;
    this.#play();
    void this.#stayAwake();
    try {
      if (this.#mic === null || this.#mic.readyState === 'ended') await this.#listen();
    } catch (failure) {
      return this.#fail(failure instanceof DOMException ? failure.name : 'microphone');
    }
    if (this.#peer?.pc.connectionState !== 'connected') return this.#reconnect(0);
    this.#on.link('connected');
    this.send('client-message', { t: 'mic', d: { on: true } });
    this.#watchForSilence(this.#peer.pc);
  }

  stop(): void {
    if (this.#target === null) return;
    this.send('disconnect-bot', {});
    this.#close(true);
    clearTimeout(this.#blocked);
    this.#blocked = 0;
    this.#mic?.stop();
    void this.#wake?.release();
    this.#target = this.#mic = this.#wake = null;
    this.#out.srcObject = null;
    this.#on.link('off');
  }

  mute(muted: boolean): void { this.#out.muted = muted; }

  get microphone(): MediaStreamTrack | null { return this.#mic; }

  /** Another microphone for the running call, without a new connection. Raises DOMException. */
  async changeMicrophone(): Promise<void> {
    if (this.#target === null || this.#mic === null) return;
    await this.#listen();
    if (this.#peer?.pc.connectionState === 'connected') this.#on.link('connected');
  }

  /** How the running call does; null without one. */
  async quality(): Promise<Quality | null> {
    if (this.#peer === null) return null;
    const reports: Record<string, unknown>[] = [];
    (await this.#peer.pc.getStats()).forEach((report: Record<string, unknown>) => reports.push(report));
    return qualityOf(reports);
  }

  send(type: string, data: object, id = `c${++this.#serial}`): boolean {
    if (!this.canSend) return false;
    this.#peer!.channel.send(envelope(type, data, id));
    return true;
  }

  #fail(problem: string, failure?: CallFailed): void {
    this.stop();
    this.#on.failed(problem, failure);
  }

  async #listen(): Promise<void> {
    this.#mic?.stop();
    const stream = await navigator.mediaDevices.getUserMedia({ audio: capture(CAPTURE), video: false });
    const mic = stream.getAudioTracks()[0];
    if (mic === undefined) throw new DOMException('no audio track', 'NotFoundError');
    if (this.#target === null) return mic.stop();
    this.#mic = mic;
    mic.addEventListener('mute', () => this.#paused(mic));
    mic.addEventListener('ended', () => this.#paused(mic));
    mic.addEventListener('unmute', () => {
      if (mic !== this.#mic || this.#peer?.pc.connectionState !== 'connected') return;
      this.#on.link('connected');
      this.send('client-message', { t: 'mic', d: { on: true } });
    });
    await this.#peer?.pc.getSenders().find((sender) => sender.track?.kind !== 'video')?.replaceTrack(mic);
  }

  #paused(mic: MediaStreamTrack): void {
    if (mic !== this.#mic || this.#target === null) return;
    this.send('client-message', { t: 'mic', d: { on: false } });
    this.#on.link('paused');
  }

  async #connect(): Promise<void> {
    const iceServers = await this.#relays;
    const target = this.#target;
    const mic = this.#mic;
    if (target === null || mic === null || this.#peer !== null) return;
    const pc = new RTCPeerConnection({ iceServers });
    const channel = pc.createDataChannel('chat', { ordered: true });
    const peer: Peer = { pc, channel, id: '', timer: 0, heartbeat: 0, received: 0, stillBeats: 0 };
    this.#peer = peer;
    const current = (): boolean => this.#peer === peer;
    const lost = (): void => { if (current()) this.#reconnect(); };
    pc.addTrack(mic, new MediaStream([mic]));
    pc.ontrack = ({ track }) => {
      if (!current()) return;
      this.#out.srcObject = new MediaStream([track]);
      this.#play();
    };
    pc.onconnectionstatechange = () => {
      if (!current()) return;
      if (pc.connectionState === 'failed' || pc.connectionState === 'closed') lost();
      if (pc.connectionState === 'disconnected') setTimeout(() => { if (pc.connectionState === 'disconnected') lost(); }, SELF_HEAL_MS);
    };
    channel.onopen = () => { if (current()) this.#opened(peer, target); };
    channel.onclose = lost;
    channel.onmessage = ({ data }) => {
      const message = current() && typeof data === 'string' ? parse(data) : null;
      if (message !== null) this.#received(message);
    };
    peer.timer = window.setTimeout(() => { if (channel.readyState !== 'open') lost(); }, CONNECT_DEADLINE_MS);
    try {
      await pc.setLocalDescription();
      const { sdp, type } = pc.localDescription!;
      const { sessionId, topicId, style } = target;
      const answer = await call<{ sdp: string; type: 'answer'; pc_id: string }>('offer', {
        sdp, type, requestData: { sessionId, topicId, ...(style === undefined ? {} : { style }) },
      });
      if (!current()) return farewell('rtcClose', { pc_id: answer.pc_id });
      peer.id = answer.pc_id;
      await pc.setRemoteDescription({ type: 'answer', sdp: answer.sdp });
      if (!this.#wasConnected && this.#blocked === 0)
        this.#blocked = window.setTimeout(() => this.#noPath(), BLOCKED_AFTER_MS);
    } catch (failure) {
      if (!current()) return;
      if (failure instanceof CallFailed && FINAL.has(failure.code)) return this.#fail('refused', failure);
      this.#reconnect(undefined, failure instanceof CallFailed ? failure : undefined);
    }
  }

  #opened(peer: Peer, target: Target): void {
    this.#tries = 0;
    this.#wasConnected = true;
    clearTimeout(this.#blocked);
    clearTimeout(peer.timer);
    this.send('client-ready', { version: RTVI_VERSION, about: { library: LIBRARY } });
    this.send('client-message', { t: 'reply-speech', d: { on: !this.#out.muted } });
    this.send('client-message', { t: 'mic', d: { on: this.#mic?.readyState === 'live' } });
    peer.heartbeat = window.setInterval(() => {
      this.send('client-message', { t: 'ping' });
      void this.#watchForDeath(peer);
    }, HEARTBEAT_MS);
    const hears = this.#mic?.readyState === 'live' && !this.#mic.muted;
    this.#on.link(this.#heldBack ? 'silenced' : hears ? 'connected' : 'paused');
    if ('mediaSession' in navigator) navigator.mediaSession.metadata = new MediaMetadata({ title: target.title, artist: 'Pidjin' });
  }

  #noPath(): void {
    const ice = this.#peer?.pc.iceConnectionState;
    if (!this.#wasConnected && ice !== 'connected' && ice !== 'completed') this.#fail('blocked');
  }

  #received(message: ServerSays): void {
    this.#on.heard(message);
    if (message.type === 'closed' || (message.type === 'error' && message.fatal)) this.stop();
  }

  /** A new connection with the same microphone and session: the server has no ICE restart, it adopts the lesson. */
  #reconnect(waitS = backoffS(this.#tries), failure?: CallFailed): void {
    clearTimeout(this.#retry);
    this.#close(false);
    if (this.#target === null) return;
    if (this.#tries >= (this.#wasConnected ? TRIES_MAX : FIRST_TRIES_MAX)) return this.#fail(this.#wasConnected ? 'lost' : 'unreachable', failure);
    this.#tries += 1;
    this.#on.link(this.#wasConnected ? 'reconnecting' : 'connecting');
    this.#retry = window.setTimeout(() => { if (this.#peer === null) void this.#connect(); }, waitS * 1000);
  }

  #close(gracefully: boolean): void {
    clearTimeout(this.#retry);
    const peer = this.#peer;
    if (peer === null) return;
    this.#peer = null;
    clearTimeout(peer.timer);
    clearInterval(peer.heartbeat);
    if (gracefully && peer.id !== '') farewell('rtcClose', { pc_id: peer.id });
    if (gracefully && peer.channel.readyState === 'open') setTimeout(() => peer.pc.close(), FLUSH_MS);
    else peer.pc.close();
  }

  #play(): void {
    this.#out.play().then(() => { this.#heldBack = false; }, (failure: unknown) => {
      if (this.#target === null || !(failure instanceof DOMException) || failure.name !== 'NotAllowedError') return;
      this.#heldBack = true;
      this.#on.link('silenced');
    });
  }

  #cameBack(): void {
    if (this.#target === null) return;
    void this.#stayAwake();
    if (this.#mic === null) return;
    if (this.#mic.readyState === 'ended') return this.#on.link('paused');
    if (this.#out.paused && this.#out.srcObject !== null) this.#play();
    const state = this.#peer?.pc.connectionState;
    if (state === 'failed' || state === 'disconnected' || state === 'closed') this.#reconnect(0);
  }

  async #stayAwake(): Promise<void> {
    if (this.#wake !== null && !this.#wake.released) return;
    const lock = await navigator.wakeLock?.request('screen').catch(() => null) ?? null;
    if (this.#target === null) await lock?.release();
    else this.#wake = lock;
  }

  /** Every heartbeat is acknowledged by the other end; when not a byte comes back it is gone, long before ICE says so. */
  async #watchForDeath(peer: Peer): Promise<void> {
    const received = await sumOf(peer.pc, 'candidate-pair', 'bytesReceived');
    if (received === null || this.#peer !== peer) return;
    peer.stillBeats = received === peer.received ? peer.stillBeats + 1 : 0;
    peer.received = received;
    if (peer.stillBeats >= DEAD_AFTER_BEATS) this.#reconnect();
  }

  /** After a revival iOS may hand out a track that stays digitally silent; a living one always has some noise. */
  #watchForSilence(pc: RTCPeerConnection): void {
    const energy = (): Promise<number | null> => sumOf(pc, 'media-source', 'totalAudioEnergy');
    void energy().then((before) => setTimeout(async () => {
      if (this.#peer?.pc !== pc || before === null) return;
      if (await energy() === before) this.#on.heard({ type: 'notice', code: 'silent', text: '' });
    }, SILENT_MIC_MS));
  }
}
