/** Stop sequences, prepared for the search. All matchers of a response share them. */
export interface StopSequences {
  readonly texts: readonly string[];
  /** For each text, the length of the longest proper prefix that is also a suffix of its first n+1 units. */
  readonly fallbacks: readonly Int32Array[];
}

export const toStopSequences = (texts: readonly string[]): StopSequences => {
  const searched = [...new Set(texts)].filter((text) => text !== '');
  return { texts: searched, fallbacks: searched.map(fallbackOf) };
};

const fallbackOf = (text: string): Int32Array => {
  const fallback = new Int32Array(text.length);
  for (let at = 1, matched = 0; at < text.length; at += 1) {
    matched = extended(text, fallback, matched, text[at]);
    fallback[at] = matched;
  }
  return fallback;
};

/** Returns the length of the longest prefix of `text` that ends with `unit`, after one of `matched` units. */
const extended = (text: string, fallback: Int32Array, matched: number, unit: string | undefined): number => {
  let length = matched === text.length ? (fallback[matched - 1] ?? 0) : matched;
  while (length > 0 && text[length] !== unit) length = fallback[length - 1] ?? 0;
  return text[length] === unit ? length + 1 : 0;
};

/**
 * Searches a text that arrives in pieces for the first stop sequence: the one that starts earliest. The result does not
 * depend on the pieces. Holds back at most the longest prefix of a stop sequence. Takes time proportional to the text
 * (Knuth, Morris, Pratt), because a client chooses the sequences.
 */
export class StopMatcher {
  readonly #sequences: StopSequences;
  /** Matched units of each sequence at the end of the text. */
  #matched: number[];
  #held = '';
  /** Start of a whole sequence in `#held`; an earlier one can still become whole. */
  #found: number | undefined;
  isCut = false;

  constructor(sequences: StopSequences) {
    this.#sequences = sequences;
    this.#matched = sequences.texts.map(() => 0);
  }

  /** Returns what can be sent now. Nothing follows once `isCut` is true. */
  take(piece: string): string {
    if (this.isCut) return '';
    const before = this.#held.length;
    this.#held += piece;
    for (let at = before; at < this.#held.length; at += 1) {
      this.#advance(at);
      if (this.#found !== undefined && this.#found <= this.#earliest(at)) return this.#cut(this.#found);
    }
    const ready = this.#earliest(this.#held.length - 1);
    return this.#release(ready);
  }

  /** Returns the text that was held back, because the text ends or something else follows. No sequence continues after it. */
  rest(): string {
    if (this.isCut) return '';
    if (this.#found !== undefined) return this.#cut(this.#found);
    this.#matched = this.#matched.map(() => 0);
    return this.#release(this.#held.length);
  }

  #advance(at: number): void {
    for (const [index, text] of this.#sequences.texts.entries()) {
      const fallback = this.#sequences.fallbacks[index] ?? new Int32Array();
      const matched = extended(text, fallback, this.#matched[index] ?? 0, this.#held[at]);
      this.#matched[index] = matched;
      if (matched === text.length) this.#found = Math.min(this.#found ?? at, at + 1 - matched);
    }
  }

  /** Returns the earliest start of a sequence that can still become whole after the unit at this place. */
  #earliest(at: number): number {
    let start = at + 1;
    for (const [index, text] of this.#sequences.texts.entries()) {
      const matched = this.#matched[index] ?? 0;
      if (matched < text.length) start = Math.min(start, at + 1 - matched);
    }
    return start;
  }

  #release(length: number): string {
    const ready = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    if (this.#found !== undefined) this.#found -= length;
    return ready;
  }

  #cut(start: number): string {
    const ready = this.#held.slice(0, start);
    this.isCut = true;
    this.#held = '';
    return ready;
  }
}
