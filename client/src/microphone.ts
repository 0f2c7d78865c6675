// The page's one microphone track: opened in a tap, told when a phone call takes it, exchanged without a new call.
import { wanted } from './devices.ts';

/** Mono with echo cancellation; 16 kHz is a hint that a browser may ignore. */
export const CAPTURE: MediaTrackConstraints = {
  channelCount: 1, sampleRate: { ideal: 16_000 }, echoCancellation: true, noiseSuppression: true, autoGainControl: true,
};

export type MicrophoneListener = {
  /** Nothing comes from it any more: a phone call, a locked screen, a headset that went away. */
  lost(): void;
  /** It came back by itself. */
  back(): void;
};

export class MicrophoneTrack {
  #track: MediaStreamTrack | null = null;
  #opened = 0;
  readonly #on: MicrophoneListener;

  constructor(on: MicrophoneListener) { this.#on = on; }

  get track(): MediaStreamTrack | null { return this.#track; }
  get dead(): boolean { return this.#track === null || this.#track.readyState === 'ended'; }
  /** False while the system withholds the sound, which a page can only wait for. */
  get hears(): boolean { return !this.dead && this.#track?.muted === false; }

  /** A new track in place of the old one, which goes first: iOS lets a page capture once. Null when it was closed
      meanwhile. Raises DOMException. */
  async open(): Promise<MediaStreamTrack | null> {
    this.close();
    const mine = ++this.#opened;
    const stream = await navigator.mediaDevices.getUserMedia({ audio: wanted(CAPTURE), video: false });
    const track = stream.getAudioTracks()[0];
    if (track === undefined) throw new DOMException('no audio track', 'NotFoundError');
    if (mine !== this.#opened) {
      track.stop();
      return null;
    }
    this.#track = track;
    const current = (tell: () => void) => (): void => { if (track === this.#track) tell(); };
    track.addEventListener('mute', current(() => this.#on.lost()));
    track.addEventListener('ended', current(() => this.#on.lost()));
    track.addEventListener('unmute', current(() => this.#on.back()));
    return track;
  }

  close(): void {
    this.#opened += 1;
    this.#track?.stop();
    this.#track = null;
  }
}
