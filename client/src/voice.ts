// One voice call: who is called, and what happens when the network, the microphone or the sound goes away. What it is
// made of does the work: the microphone's track, the speaker, the peer, and what the device has to be asked for.
import { read } from './api.ts';
import { DeviceClaims } from './device-claims.ts';
import { CallFailed } from './errors.ts';
import { MicrophoneTrack } from './microphone.ts';
import { Peer, sumOf, type Target } from './peer.ts';
import { backoffS, LIBRARY, RTVI_VERSION, type ServerSays } from './protocol.ts';
import { qualityOf, type Quality } from './quality.ts';
import { Speaker } from './speaker.ts';

export type Link = 'connecting' | 'connected' | 'reconnecting' | 'paused' | 'silenced' | 'off';
export type Listener = {
  link(link: Link): void;
  /** The browser is asking the learner for the microphone, or has stopped asking. */
  asks(on: boolean): void;
  heard(message: ServerSays): void;
  failed(problem: string, failure?: CallFailed): void;
};

const RELAYS_DEADLINE_MS = 3_000;
/** A microphone that takes this long to open waits for a person to allow it. */
const ASKING_AFTER_MS = 1_000;
/** Answered, and yet no packet in this time: the network lets no voice through. */
const BLOCKED_AFTER_MS = 10_000;
const SILENT_MIC_MS = 5_000;
const TRIES_MAX = 12;
const FIRST_TRIES_MAX = 4;
const FINAL = new Set(['unauthenticated', 'permission-denied', 'invalid-argument', 'not-found', 'failed-precondition', 'resource-exhausted']);

/** STUN and TURN servers of this installation; none when they cannot be had, which is fine on most networks. */
export async function relays(): Promise<RTCIceServer[]> {
  try {
    return (await read<{ iceServers: RTCIceServer[] }>('ice-servers', RELAYS_DEADLINE_MS)).iceServers;
  } catch (failure) {
    if (failure instanceof CallFailed) return [];
    throw failure;
  }
}

let serial = 0;

export class VoiceCall {
  #target: Target | null = null;
  #peer: Peer | null = null;
  #relays: Promise<RTCIceServer[]> = Promise.resolve([]);
  #wasConnected = false;
  #tries = 0;
  #retry = 0;
  #blocked = 0;
  readonly #mic = new MicrophoneTrack({ lost: () => this.#deafened(), back: () => this.#hearsAgain() });
  readonly #claims = new DeviceClaims(() => this.#cameBack());
  readonly #speaker: Speaker;
  readonly #on: Listener;

  constructor(out: HTMLAudioElement, on: Listener) {
    this.#on = on;
    this.#speaker = new Speaker(out, () => { if (this.running) on.link('silenced'); });
    document.addEventListener('visibilitychange', () => { if (document.visibilityState === 'visible') this.#cameBack(); });
    addEventListener('pagehide', () => this.stop());
    addEventListener('online', () => { if (this.#mic.track !== null) this.#reconnect(0); });
    navigator.mediaDevices?.addEventListener('devicechange', () => { if (this.#mic.track !== null && this.#mic.dead) void this.recover(); });
  }

  get running(): boolean { return this.#target !== null; }
  get canSend(): boolean { return this.#peer?.canSend === true; }
  get microphone(): MediaStreamTrack | null { return this.#mic.track; }

  /** Call inside a tap: the browser grants sound and the microphone only to a gesture. */
  async start(target: Target): Promise<void> {
    if (this.#target !== null) return;
    if (!window.isSecureContext || navigator.mediaDevices === undefined) return this.#on.failed('insecure');
    if (typeof RTCPeerConnection === 'undefined') return this.#on.failed('unsupported');
    this.#target = target;
    this.#tries = 0;
    this.#wasConnected = false;
    this.#on.link('connecting');
    this.#speaker.unlock();
    this.#claims.claim();
    this.#relays = relays();
    if (await this.#listen()) await this.#connect();
  }

  /** Call inside a tap after a phone call, a locked screen or blocked sound: a new track only if the old one died. */
  async recover(): Promise<void> {
    if (this.#target === null) return;
    this.#speaker.play();
    void this.#claims.stayAwake();
    if (this.#mic.dead && !await this.#listen()) return;
    if (this.#peer?.connected !== true) return this.#reconnect(0);
    this.#hearsAgain();
  }

  /** Another microphone for the running call, without a new connection. */
  async changeMicrophone(): Promise<void> {
    if (this.#target !== null && await this.#listen() && this.#peer?.connected === true) this.#hearsAgain();
  }

  stop(): void {
    if (this.#target === null) return;
    this.send('disconnect-bot', {});
    this.#close(true);
    clearTimeout(this.#blocked);
    this.#blocked = 0;
    this.#target = null;
    this.#mic.close();
    this.#speaker.close();
    this.#claims.release();
    this.#on.link('off');
  }

  /** Another loudspeaker was chosen. */
  reroute(): void { this.#speaker.reroute(); }

  mute(muted: boolean): void { this.#speaker.mute(muted); }

  /** How the running call does; null without one. */
  async quality(): Promise<Quality | null> {
    return this.#peer === null ? null : qualityOf(await this.#peer.reports());
  }

  send(type: string, data: object, id = `c${++serial}`): boolean {
    if (!this.canSend) return false;
    this.#peer!.send(type, data, id);
    return true;
  }

  #fail(problem: string, failure?: CallFailed): void {
    this.stop();
    this.#on.failed(problem, failure);
  }

  /** Opens the microphone; false when there is none to be had, which ends the call, or when the call ended meanwhile. */
  async #listen(): Promise<boolean> {
    const asking = setTimeout(() => this.#on.asks(true), ASKING_AFTER_MS);
    try {
      const track = await this.#mic.open();
      if (track === null) return false;
      await this.#peer?.carry(track);
      return true;
    } catch (failure) {
      if (!(failure instanceof DOMException)) throw failure;
      if (this.#target !== null) this.#fail(failure.name);
      return false;
    } finally {
      clearTimeout(asking);
      this.#on.asks(false);
    }
  }

  #deafened(): void {
    if (this.#target === null) return;
    this.send('client-message', { t: 'mic', d: { on: false } });
    this.#on.link('paused');
  }

  #hearsAgain(): void {
    const peer = this.#peer;
    if (peer?.connected !== true) return;
    this.send('client-message', { t: 'mic', d: { on: this.#mic.hears } });
    this.#on.link(this.#mic.hears ? 'connected' : 'paused');
    void this.#watchForSilence(peer);
  }

  async #connect(): Promise<void> {
    const iceServers = await this.#relays;
    const { track } = this.#mic;
    const target = this.#target;
    if (target === null || track === null || this.#peer !== null) return;
    const peer = this.#peer = new Peer(iceServers, track, {
      opened: () => this.#opened(target),
      said: (message) => this.#received(message),
      sounded: (sound) => this.#speaker.carry(sound),
      lost: () => this.#reconnect(),
    });
    try {
      await peer.dial(target);
      if (!peer.closed && !this.#wasConnected && this.#blocked === 0)
        this.#blocked = window.setTimeout(() => { if (!this.#wasConnected && this.#peer?.reached !== true) this.#fail('blocked'); }, BLOCKED_AFTER_MS);
    } catch (failure) {
      if (peer.closed) return;
      if (failure instanceof CallFailed && FINAL.has(failure.code)) return this.#fail('refused', failure);
      this.#reconnect(undefined, failure instanceof CallFailed ? failure : undefined);
    }
  }

  #opened(target: Target): void {
    this.#tries = 0;
    this.#wasConnected = true;
    clearTimeout(this.#blocked);
    this.send('client-ready', { version: RTVI_VERSION, about: { library: LIBRARY } });
    this.send('client-message', { t: 'reply-speech', d: { on: !this.#speaker.muted } });
    this.send('client-message', { t: 'mic', d: { on: !this.#mic.dead } });
    this.#on.link(this.#speaker.held ? 'silenced' : this.#mic.hears ? 'connected' : 'paused');
    this.#claims.name(target.title);
  }

  #received(message: ServerSays): void {
    this.#on.heard(message);
    if (message.type === 'closed' || (message.type === 'error' && message.fatal)) this.stop();
  }

  /** A new connection with the same microphone and session: the server adopts the lesson. */
  #reconnect(waitS = backoffS(this.#tries), failure?: CallFailed): void {
    this.#close(false);
    if (this.#target === null) return;
    if (this.#tries >= (this.#wasConnected ? TRIES_MAX : FIRST_TRIES_MAX)) return this.#fail(this.#wasConnected ? 'lost' : 'unreachable', failure);
    this.#tries += 1;
    this.#on.link(this.#wasConnected ? 'reconnecting' : 'connecting');
    this.#retry = window.setTimeout(() => { if (this.#peer === null) void this.#connect(); }, waitS * 1000);
  }

  #close(gracefully: boolean): void {
    clearTimeout(this.#retry);
    this.#peer?.close(gracefully);
    this.#peer = null;
  }

  /** The page is seen again, or the phone gave the sound back. */
  #cameBack(): void {
    if (this.#target === null) return;
    void this.#claims.stayAwake();
    if (this.#mic.track === null) return;
    if (this.#mic.dead) return this.#on.link('paused');
    this.#speaker.resume();
    if (this.#peer?.broken === true) this.#reconnect(0);
  }

  /** After a revival iOS may hand out a track that stays digitally silent; a living one always has some noise. */
  async #watchForSilence(peer: Peer): Promise<void> {
    const energy = async (): Promise<number | null> => sumOf(await peer.reports(), 'media-source', 'totalAudioEnergy');
    const before = await energy();
    if (before === null) return;
    setTimeout(async () => {
      if (!peer.closed && this.#mic.hears && await energy() === before) this.#on.heard({ type: 'notice', code: 'silent', text: '' });
    }, SILENT_MIC_MS);
  }
}
