// Speech recognition of the browser, made into sentences: a pause of two seconds ends one, and words that a
// restarted recogniser repeats are taken once. No browser API in here; timers only.
export const SENTENCE_PAUSE_MS = 2_000;
const SEAM_WORDS_MAX = 6;

const plain = (word: string): string => word.toLocaleLowerCase().replace(/[^\p{L}\p{N}']/gu, '');

/** Two pieces with the words that both share at the seam once: `the deep` + `deep ocean` is `the deep ocean`. */
export function joined(before: string, after: string): string {
  const left = before.trim().split(/\s+/).filter(Boolean);
  const right = after.trim().split(/\s+/).filter(Boolean);
  for (let n = Math.min(left.length, right.length, SEAM_WORDS_MAX); n > 0; n--)
    if (left.slice(-n).every((word, i) => plain(word) !== '' && plain(word) === plain(right[i]!)))
      return [...left, ...right.slice(n)].join(' ');
  return [...left, ...right].join(' ');
}

export class Dictation {
  #kept = '';
  #interim = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #interimChanged: (words: string) => void;
  readonly #sentence: (words: string) => void;

  constructor(interimChanged: (words: string) => void, sentence: (words: string) => void) {
    this.#interimChanged = interimChanged;
    this.#sentence = sentence;
  }

  /** Newly final words, and what is still uncertain after them. */
  heard(final: string, interim: string): void {
    this.#kept = joined(this.#kept, final);
    this.#interim = interim.trim();
    const words = joined(this.#kept, this.#interim);
    if (words === '') return;
    this.#interimChanged(words);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#finish(), SENTENCE_PAUSE_MS);
  }

  /** The recogniser began anew and will not correct what it was unsure of: keep that as it is. */
  restarted(): void {
    this.#kept = joined(this.#kept, this.#interim);
    this.#interim = '';
  }

  /** Forgets the sentence under way. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#kept = this.#interim = '';
    this.#interimChanged('');
  }

  #finish(): void {
    const words = joined(this.#kept, this.#interim);
    this.drop();
    if (words !== '') this.#sentence(words);
  }
}
