// Push-to-talk by holding a key: claims after half a second, leaves short taps and typing alone. No DOM.
export const HOLD_MS = 500;

export class Hold {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #claimed = false;
  readonly #mayClaim: () => boolean;
  readonly #changed: (down: boolean) => void;

  constructor(mayClaim: () => boolean, changed: (down: boolean) => void) {
    this.#mayClaim = mayClaim;
    this.#changed = changed;
  }

  get claimed(): boolean { return this.#claimed; }

  /** The key went down outside a text field. True when the native action must not happen. */
  pressed(repeat: boolean): boolean {
    if (!repeat && this.#timer === undefined && !this.#claimed && this.#mayClaim())
      this.#timer = setTimeout(() => this.#claim(), HOLD_MS);
    return this.#claimed;
  }

  /** The key went up, another key joined, or the page lost the keyboard. True when the native action must not happen. */
  released(): boolean {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const was = this.#claimed;
    this.#claimed = false;
    if (was) this.#changed(false);
    return was;
  }

  #claim(): void {
    this.#timer = undefined;
    if (!this.#mayClaim()) return;
    this.#claimed = true;
    this.#changed(true);
  }
}
