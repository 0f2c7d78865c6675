// What a call asks of the device around the browser: a screen that stays on, an audio session for talking, a name on
// the lock screen. All of it is given back, and none of it is needed.
type AudioSession = EventTarget & { type: string; state?: string };

const audioSession = (): AudioSession | undefined => (navigator as { audioSession?: AudioSession }).audioSession;

export class DeviceClaims {
  #wanted = false;
  #lock: WakeLockSentinel | null = null;

  /** `free` is told when a phone call or another app gives the sound back. */
  constructor(free: () => void) {
    audioSession()?.addEventListener('statechange', () => { if (this.#wanted && audioSession()?.state === 'active') free(); });
  }

  /** Before the microphone opens: so iOS neither mutes the reply by its silent switch nor jumps in loudness. */
  claim(): void {
    this.#wanted = true;
    const session = audioSession();
    if (session !== undefined) session.type = 'play-and-record';
    void this.stayAwake();
  }

  /** A lock ends whenever the page is hidden; asked for again in every tap and when it is seen. */
  async stayAwake(): Promise<void> {
    if (!this.#wanted || (this.#lock !== null && !this.#lock.released)) return;
    const lock = await navigator.wakeLock?.request('screen').catch(() => null) ?? null;
    if (this.#wanted) this.#lock = lock;
    else await lock?.release();
  }

  name(title: string): void {
    if ('mediaSession' in navigator) navigator.mediaSession.metadata = new MediaMetadata({ title, artist: 'Pidjin' });
  }

  release(): void {
    this.#wanted = false;
    void this.#lock?.release();
    this.#lock = null;
    const session = audioSession();
    if (session !== undefined) session.type = 'auto';
    if ('mediaSession' in navigator) navigator.mediaSession.metadata = null;
  }
}
