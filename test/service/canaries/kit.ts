import { randomBytes } from 'node:crypto';

/** Outcomes of a request. */
export const endings = ['good', 'failed', 'quoted', 'refused', 'killed'] as const;
export type Ending = (typeof endings)[number];

export interface Planted {
  /** Place of the canary in a request, such as `chat: a tool's description`. */
  readonly place: string;
  readonly ending: Ending;
  /** Whether the canary is a credential: a key, a token or a signature. */
  readonly isSecret: boolean;
}

/** Characters of a canary. A match in stored data contains the whole canary. */
const WORD = /[\w-]{16,}/g;
const BASE64 = /[\w+/-]{20,}/g;
/** Possible offsets of base64 groups. */
const SHIFTS = [0, 1, 2, 3];

/** Creates unique strings, records their places, and finds them in stored data. */
export class Canaries {
  readonly #planted = new Map<string, Planted>();

  plant(place: string, ending: Ending): string {
    return this.#add(`kn${randomBytes(8).toString('hex')}`, { place, ending, isSecret: false });
  }

  /** Adds a credential. `text` sets its value if the format is fixed. */
  secret(place: string, ending: Ending, text = randomBytes(16).toString('hex')): string {
    return this.#add(text, { place, ending, isSecret: true });
  }

  get places(): ReadonlySet<string> {
    return new Set(this.#planted.values().map(({ place }) => place));
  }

  /** Finds canaries in plain text, and in base64 at any offset. */
  foundIn(text: string): readonly Planted[] {
    const decoded = (text.match(BASE64) ?? []).flatMap((run) =>
      SHIFTS.map((shift) => Buffer.from(run.slice(shift), 'base64').toString('latin1')),
    );
    const lengths = new Set(this.#planted.keys().map(({ length }) => length));
    return [text, ...decoded].flatMap((part) => this.#wordsIn(part, lengths));
  }

  #wordsIn(text: string, lengths: ReadonlySet<number>): readonly Planted[] {
    const found: Planted[] = [];
    for (const [run] of text.matchAll(WORD))
      for (const length of lengths)
        for (let start = 0; start + length <= run.length; start += 1) {
          const planted = this.#planted.get(run.slice(start, start + length));
          if (planted) found.push(planted);
        }
    return found;
  }

  #add(text: string, planted: Planted): string {
    if (!new RegExp(`^(?:${WORD.source})$`).test(text)) throw new Error(`${planted.place}: cannot be searched for`);
    this.#planted.set(text, planted);
    return text;
  }
}
