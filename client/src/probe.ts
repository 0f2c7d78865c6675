// Listens to the microphone outside a call, to show its level. The browser measures it on a connection from this
// page to itself: no sound is processed here and none leaves the device.
import { wanted } from './devices.ts';
import { reportsOf } from './peer.ts';
import { qualityOf } from './quality.ts';
import { CAPTURE } from './microphone.ts';

export class MicrophoneProbe {
  #stopped = false;
  #track: MediaStreamTrack | null = null;
  #ends: RTCPeerConnection[] = [];

  get track(): MediaStreamTrack | null { return this.#track; }

  /** Raises DOMException when there is no microphone to be had. */
  async start(): Promise<void> {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: wanted(CAPTURE), video: false });
    const track = stream.getAudioTracks()[0] ?? null;
    if (this.#stopped) return track?.stop();
    this.#track = track;
    if (track === null || typeof RTCPeerConnection === 'undefined') return;
    const [near, far] = [new RTCPeerConnection(), new RTCPeerConnection()];
    this.#ends = [near, far];
    near.onicecandidate = ({ candidate }) => void far.addIceCandidate(candidate ?? undefined).catch(() => undefined);
    far.onicecandidate = ({ candidate }) => void near.addIceCandidate(candidate ?? undefined).catch(() => undefined);
    near.addTrack(track, stream);
    await near.setLocalDescription();
    await far.setRemoteDescription(near.localDescription!);
    await far.setLocalDescription();
    if (!this.#stopped) await near.setRemoteDescription(far.localDescription!);
  }

  /** 0..1; null where the browser does not tell. */
  async level(): Promise<number | null> {
    const near = this.#ends[0];
    if (near === undefined || this.#stopped) return null;
    return qualityOf(await reportsOf(near)).level;
  }

  stop(): void {
    this.#stopped = true;
    this.#track?.stop();
    for (const end of this.#ends) end.close();
  }
}
