// Speech recognition of the browser, for networks that carry no call: sentences become typed turns.
import { Dictation } from './dictation.ts';

type Result = { isFinal: boolean; 0: { transcript: string } };
type ResultEvent = { resultIndex: number; results: ArrayLike<Result> };
type Recogniser = {
  lang: string; continuous: boolean; interimResults: boolean;
  start(): void; abort(): void;
  onresult: ((event: ResultEvent) => void) | null;
  onerror: ((event: { error: string }) => void) | null;
  onend: (() => void) | null;
};
type Maker = new () => Recogniser;

const maker = (): Maker | undefined => {
  const page = window as unknown as { SpeechRecognition?: Maker; webkitSpeechRecognition?: Maker };
  return page.SpeechRecognition ?? page.webkitSpeechRecognition;
};

export const canRecognise = (): boolean => maker() !== undefined;

/** Errors that pass: nobody spoke, or we stopped it ourselves. */
const HARMLESS = new Set(['no-speech', 'aborted']);
const PROBLEMS: Record<string, string> = { 'not-allowed': 'NotAllowedError', 'service-not-allowed': 'dictation', 'audio-capture': 'NotFoundError' };

export class BrowserRecognition {
  #recogniser: Recogniser | null = null;
  #wanted = false;
  #held = false;
  readonly #dictation: Dictation;
  readonly #failed: (problem: string) => void;

  constructor(on: { interim(words: string): void; sentence(words: string): void; failed(problem: string): void }) {
    this.#dictation = new Dictation((words) => on.interim(words), (words) => on.sentence(words));
    this.#failed = (problem) => on.failed(problem);
  }

  get running(): boolean { return this.#wanted; }

  /** Call inside a tap: the browser may ask for the microphone. */
  start(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    this.#held = false;
    this.#listen();
  }

  stop(): void {
    this.#wanted = false;
    this.#quiet();
  }

  /** Does not listen while the tutor thinks or speaks: without a call nothing cancels its echo. */
  hold(held: boolean): void {
    if (!this.#wanted || held === this.#held) return;
    this.#held = held;
    if (held) this.#quiet();
    else this.#listen();
  }

  #quiet(): void {
    const recogniser = this.#recogniser;
    this.#recogniser = null;
    recogniser?.abort();
    this.#dictation.drop();
  }

  #listen(): void {
    const Recognition = maker();
    if (Recognition === undefined) return this.#fail('dictation');
    const recogniser = new Recognition();
    this.#recogniser = recogniser;
    recogniser.lang = navigator.language.startsWith('en') ? navigator.language : 'en-US';
    recogniser.continuous = recogniser.interimResults = true;
    recogniser.onresult = ({ resultIndex, results }) => {
      if (this.#recogniser !== recogniser) return;
      const news = Array.from(results).slice(resultIndex);
      const words = (final: boolean): string => news.filter((r) => r.isFinal === final).map((r) => r[0].transcript).join(' ');
      this.#dictation.heard(words(true), words(false));
    };
    recogniser.onerror = ({ error }) => {
      if (this.#recogniser === recogniser && !HARMLESS.has(error)) this.#fail(PROBLEMS[error] ?? 'dictation');
    };
    recogniser.onend = () => {
      if (this.#recogniser !== recogniser) return;
      this.#dictation.restarted();
      this.#listen();
    };
    recogniser.start();
  }

  #fail(problem: string): void {
    this.stop();
    this.#failed(problem);
  }
}
