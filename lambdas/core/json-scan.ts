/** Contents of a JSON text that take memory after parsing, apart from the bytes of its strings. */
export interface JsonParts {
  /** Number of objects, arrays and member names. */
  readonly parts: number;
  /** Number of items and members, without the first one of each array and object. */
  readonly items: number;
}

/** A run of whole members of one container. Level 0 is around the whole text. */
export interface JsonPiece {
  /** Its bytes are from `start` up to `end`, without the comma or bracket at `end`. */
  readonly start: number;
  readonly end: number;
  /** Level of the container. */
  readonly level: number;
  /** Whether the piece follows a comma, so that it cannot be empty. */
  readonly isAfterComma: boolean;
  /**
   * Containers from `level` inward that are open at the comma after the piece: the place of the name of the member that
   * comes last, or `NO_NAME` for an array.
   */
  readonly open: readonly number[];
  /** The bracket that ends the container after this piece. Undefined if a comma or the end of the text follows. */
  readonly closer: number | undefined;
}

/** Levels to which a text is cut. */
export const JSON_LEVELS_MAX = 64;

export const NO_NAME = -1;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [BRACE, BRACKET, END_BRACE, END_BRACKET] = [0x7b, 0x5b, 0x7d, 0x5d];

const [OTHER, STRING, NEXT, NAMED, OPENER, CLOSER] = [0, 1, 2, 3, 4, 5];

/** The kind of each byte. A table takes a fifth of the time of comparisons. */
const kinds = new Uint8Array(256);
kinds[QUOTE] = STRING;
kinds[COMMA] = NEXT;
kinds[COLON] = NAMED;
kinds[BRACE] = OPENER;
kinds[BRACKET] = OPENER;
kinds[END_BRACE] = CLOSER;
kinds[END_BRACKET] = CLOSER;

/**
 * Counts the parts of a JSON text without parsing it, and cuts it into pieces that can be parsed one after the other.
 * Accepts any text: pieces of invalid text are invalid too, or `mistakeAt` has the place of a mistake between pieces.
 */
export class JsonScan {
  readonly #json: Uint8Array;
  readonly #pieceBytes: number;
  #at = 0;
  #level = 0;
  /** Level of the container whose members the current piece has. */
  #floor = 0;
  #start = 0;
  #isAfterComma = false;
  /** Place of the last string. */
  #string = 0;
  /** The last name in each open container. */
  readonly #names: number[] = [NO_NAME];
  parts = 0;
  items = 0;
  /** Levels of the deepest container so far. */
  levels = 0;
  /** Empty if the text was not cut. Complete after the last byte. */
  readonly pieces: JsonPiece[] = [];
  mistakeAt: number | undefined;

  /** Cuts at the first comma after this many bytes. */
  constructor(json: Uint8Array, pieceBytes = Number.POSITIVE_INFINITY) {
    this.#json = json;
    this.#pieceBytes = pieceBytes;
  }

  /** Scans up to this offset, or further to the end of a string. Returns whether the text is complete. */
  scanTo(limit: number): boolean {
    const json = this.#json;
    const end = Math.min(limit, json.length);
    let at = this.#at;
    while (at < end) {
      const kind = kinds[json[at] ?? 0];
      if (kind === OTHER) {
        at += 1;
      } else if (kind === STRING) {
        this.#string = at;
        at = endOfString(json, at) + 1;
      } else {
        at = this.#take(kind, at);
      }
    }
    this.#at = at;
    const isComplete = at >= json.length;
    if (isComplete) this.#finish();
    return isComplete;
  }

  /** Returns the place to continue at. */
  #take(kind: number | undefined, at: number): number {
    if (kind === CLOSER) return this.#close(at);
    if (kind === NEXT) {
      this.items += 1;
      if (at - this.#start >= this.#pieceBytes) this.#cut(at);
      return at + 1;
    }
    this.parts += 1;
    if (kind === OPENER) {
      this.#level += 1;
      this.levels = Math.max(this.levels, this.#level);
    }
    if (this.#level <= JSON_LEVELS_MAX) this.#names[this.#level] = kind === OPENER ? NO_NAME : this.#string;
    return at + 1;
  }

  /** The text before the comma must have a member, because JSON has no empty ones. */
  #cut(at: number): void {
    if (this.#level === 0 || this.#level > JSON_LEVELS_MAX) return;
    let before = at - 1;
    while (isSpace(this.#json[before])) before -= 1;
    const kind = kinds[this.#json[before] ?? 0];
    if (kind === OPENER || kind === NEXT) return;
    this.#add(at, this.#names.slice(this.#floor, this.#level + 1), undefined);
    this.#floor = this.#level;
    this.#start = at + 1;
    this.#isAfterComma = true;
  }

  #add(end: number, open: readonly number[], closer: number | undefined): void {
    const [start, level, isAfterComma] = [this.#start, this.#floor, this.#isAfterComma];
    this.pieces.push({ start, end, level, isAfterComma, open, closer });
  }

  /** A piece ends with the container in which it started. Returns the place to continue at. */
  #close(at: number): number {
    if (this.#level > this.#floor) {
      this.#level -= 1;
      return at + 1;
    }
    // Without a piece, the parser finds the bracket that is too many.
    if (this.#floor === 0) return at + 1;
    this.#add(at, [], this.#json[at]);
    this.#level -= 1;
    this.#floor = this.#level;
    this.#isAfterComma = false;
    return this.#continueAfter(at);
  }

  /** After a container there is a comma, another bracket, or the end. */
  #continueAfter(bracket: number): number {
    const json = this.#json;
    let at = bracket + 1;
    while (isSpace(json[at])) at += 1;
    this.#start = at;
    if (at === json.length) return at;
    const kind = this.#level === 0 ? OTHER : kinds[json[at] ?? 0];
    if (kind === CLOSER) return at;
    if (kind !== NEXT) {
      this.mistakeAt = at;
      return json.length;
    }
    this.items += 1;
    this.#start = at + 1;
    this.#isAfterComma = true;
    return at + 1;
  }

  #finish(): void {
    const { length } = this.#json;
    const isClosed = this.#floor === 0 && this.#start === length;
    if (this.pieces.length > 0 && !isClosed && this.mistakeAt === undefined) this.#add(length, [], undefined);
  }
}

/** Counts without parsing, and stops soon after `partsMax` parts. Accepts any text. */
export const partsOf = (json: Uint8Array, partsMax = Number.POSITIVE_INFINITY): JsonParts => {
  const scan = new JsonScan(json);
  for (let limit = STEP_BYTES; !scan.scanTo(limit) && scan.parts <= partsMax; ) limit += STEP_BYTES;
  return { parts: scan.parts, items: scan.items };
};

const STEP_BYTES = 64 * 1024;

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Bytes of a string that are compared one by one, because a search for the quote takes as long as dozens of them. */
const NEAR_BYTES = 16;

/** Returns the place of the quote that ends the string, or the end of the text. */
export const endOfString = (json: Uint8Array, start: number): number => {
  for (let at = start + 1; at < json.length; ) {
    const near = Math.min(at + NEAR_BYTES, json.length);
    while (at < near && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
    const quote = json.indexOf(QUOTE, at);
    if (quote === -1) return json.length;
    if (!isEscaped(json, quote, at)) return quote;
    at = quote + 1;
  }
  return json.length;
};

/** Whether a quote is escaped by the backslashes before it, from `start` on. */
const isEscaped = (json: Uint8Array, quote: number, start: number): boolean => {
  let before = quote - 1;
  while (before >= start && json[before] === BACKSLASH) before -= 1;
  return (quote - before) % 2 === 0;
};
