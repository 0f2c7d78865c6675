// The page's one <audio> element for the tutor's voice: started in a tap, kept sounding, never decoded.
import { route } from './loudspeakers.ts';

export class Speaker {
  #held = false;
  readonly #out: HTMLAudioElement;
  readonly #heldBack: () => void;

  /** `heldBack` is told when the browser wants a tap before it plays. */
  constructor(out: HTMLAudioElement, heldBack: () => void) {
    this.#out = out;
    this.#heldBack = heldBack;
    // A phone call or another app pauses the element; what pauses it never starts it again.
    out.addEventListener('pause', () => { if (out.srcObject !== null) this.play(); });
  }

  /** The browser waits for a tap. */
  get held(): boolean { return this.#held; }
  get muted(): boolean { return this.#out.muted; }

  /** Inside the tap, before there is any sound: the permission stays with the element. */
  unlock(): void {
    void route(this.#out);
    this.#out.srcObject = new MediaStream();
    this.play();
  }

  carry(track: MediaStreamTrack): void {
    this.#out.srcObject = new MediaStream([track]);
    this.play();
  }

  play(): void {
    this.#out.play().then(() => { this.#held = false; }, (failure: unknown) => {
      if (this.#out.srcObject === null || !(failure instanceof DOMException) || failure.name !== 'NotAllowedError') return;
      this.#held = true;
      this.#heldBack();
    });
  }

  /** After the page was away: plays on if something has paused it. */
  resume(): void { if (this.#out.paused && this.#out.srcObject !== null) this.play(); }

  /** On the loudspeaker that was chosen meanwhile. */
  reroute(): void { void route(this.#out); }

  mute(muted: boolean): void { this.#out.muted = muted; }

  close(): void {
    this.#held = false;
    this.#out.srcObject = null;
  }
}
