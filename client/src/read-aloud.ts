// Reads typed replies aloud: the tutor's voice from the server, else the browser's own voice.
import { call } from './api.ts';
import { CallFailed } from './errors.ts';
import { route } from './loudspeakers.ts';
import { chunksOf } from './reading.ts';

export type ReaderListener = {
  reading(on: boolean): void;
  /** The server has no voice to give; from now on the browser's is used. */
  fellBack(): void;
  failed(): void;
};

const RATE_HZ = 8_000;
const WAV_HEADER_BYTES = 44;

/** A moment of silence, played inside a tap so that the browser lets the element speak later by itself. */
function silence(): Blob {
  const view = new DataView(new ArrayBuffer(WAV_HEADER_BYTES + RATE_HZ / 20));
  const text = (at: number, word: string): void => [...word].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
  const data = view.byteLength - WAV_HEADER_BYTES;
  text(0, 'RIFF'); view.setUint32(4, 36 + data, true); text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true); view.setUint16(20, 1, true); view.setUint16(22, 1, true);
  view.setUint32(24, RATE_HZ, true); view.setUint32(28, RATE_HZ, true); view.setUint16(32, 1, true); view.setUint16(34, 8, true);
  text(36, 'data'); view.setUint32(40, data, true);
  for (let at = WAV_HEADER_BYTES; at < view.byteLength; at++) view.setUint8(at, 128);
  return new Blob([view.buffer], { type: 'audio/wav' });
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

export class Reader {
  #serial = 0;
  #unlocked = false;
  #byBrowser = false;
  #url = '';
  readonly #audio: HTMLAudioElement;
  readonly #on: ReaderListener;

  constructor(audio: HTMLAudioElement, on: ReaderListener) {
    this.#audio = audio;
    this.#on = on;
    audio.addEventListener('ended', () => this.#finished());
  }

  /** Call inside a tap. */
  unlock(): void {
    void route(this.#audio);
    if (this.#unlocked) return;
    this.#unlocked = true;
    this.#load(silence());
    this.#audio.play().catch(() => { this.#unlocked = false; });
  }

  /** Reads `text`, in place of anything being read. Raises CallFailed only where signing in again is needed. */
  async read(text: string): Promise<void> {
    this.stop();
    const serial = this.#serial;
    if (this.#byBrowser) return this.#speak(text);
    let sound: { audioBase64: string; mimeType: string };
    try {
      sound = await call('speakText', { text });
    } catch (failure) {
      if (!(failure instanceof CallFailed) || failure.code === 'unauthenticated') throw failure;
      if (serial !== this.#serial) return;
      this.#byBrowser = true;
      if (hasVoice()) this.#on.fellBack();
      return this.#speak(text);
    }
    if (serial !== this.#serial) return;
    this.#load(new Blob([bytesOf(sound.audioBase64)], { type: sound.mimeType }));
    this.#on.reading(true);
    try {
      await this.#audio.play();
    } catch (failure) {
      if (!(failure instanceof DOMException)) throw failure;
      if (serial === this.#serial && failure.name !== 'AbortError') this.#fail();
    }
  }

  stop(): void {
    this.#serial += 1;
    this.#audio.pause();
    if ('speechSynthesis' in window) speechSynthesis.cancel();
    this.#on.reading(false);
  }

  #speak(text: string): void {
    if (!hasVoice()) return this.#fail();
    const serial = this.#serial;
    const chunks = chunksOf(text);
    chunks.forEach((chunk, i) => {
      const utterance = new SpeechSynthesisUtterance(chunk);
      utterance.lang = document.documentElement.lang;
      if (i === chunks.length - 1) utterance.onend = () => { if (serial === this.#serial) this.#finished(); };
      utterance.onerror = ({ error }) => {
        if (serial === this.#serial && error !== 'interrupted' && error !== 'canceled') this.#fail();
      };
      speechSynthesis.speak(utterance);
    });
    this.#on.reading(true);
  }

  #load(sound: Blob): void {
    URL.revokeObjectURL(this.#url);
    this.#url = URL.createObjectURL(sound);
    this.#audio.src = this.#url;
  }

  #fail(): void {
    this.stop();
    this.#on.failed();
  }

  #finished(): void {
    this.#on.reading(false);
  }
}

const hasVoice = (): boolean => 'speechSynthesis' in window && speechSynthesis.getVoices().length > 0;
