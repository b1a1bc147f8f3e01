import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { ANSWER_BYTES_MAX } from '../core/text/answer-size.ts';
import { unreadable } from './refusals.ts';
import { topLevelString } from './top-level-member.ts';
import type { UpstreamResponse } from './upstream-http.ts';

/** A JSON object whose lists were read as bytes, because parsing megabytes of numbers would block other requests. */
export interface ListedJson {
  /** The object, with its own lists empty. */
  readonly outline: JsonObject;
  /** The text in pieces, unchanged except for the model's id, which is replaced or added if it differs. */
  withModel(modelId: string): readonly Uint8Array[];
}

/** Complete response. Throws `upstream_error` if it is unreadable, cut off or too long (ERR-9). */
export const readListedJson = async (response: UpstreamResponse): Promise<ListedJson> => {
  const scan = new ListScan();
  let bytes = 0;
  try {
    for await (const piece of response.body) {
      bytes += piece.length;
      if (bytes > ANSWER_BYTES_MAX || !scan.add(piece)) throw unreadable();
    }
  } finally {
    response.discard();
  }
  const parts = scan.parts();
  if (!parts) throw unreadable();
  const texts = parts.map(({ isList, pieces }) => (isList ? '' : Buffer.concat(pieces).toString('utf8')));
  const outline = parsed(texts.join(''));
  if (!isJsonObject(outline)) throw unreadable();
  return {
    outline,
    withModel: (modelId) => {
      if (outline.model === modelId) return parts.flatMap(({ pieces }) => pieces);
      const { index, text } = replaceModel(texts, JSON.stringify(modelId));
      return parts.flatMap(({ pieces }, at) => (at === index ? [Buffer.from(text)] : pieces));
    },
  };
};

const parsed = (text: string): JsonValue | undefined => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Returns the part of the outline that has the model, with its new value. */
const replaceModel = (texts: readonly string[], value: string): { readonly index: number; readonly text: string } => {
  const span = topLevelString(texts.join(''), 'model');
  let start = 0;
  for (const [index, text] of texts.entries()) {
    const from = (span?.start ?? 0) - start;
    // No part ends within a string.
    if (span && from < text.length)
      return { index, text: `${text.slice(0, from)}${value}${text.slice(span.end - start)}` };
    start += text.length;
  }
  const last = texts.at(-1) ?? '';
  const end = last.lastIndexOf('}');
  return { index: texts.length - 1, text: `${last.slice(0, end)},"model":${value}${last.slice(end)}` };
};

/** Adjacent bytes: the content of a list of the outermost object, or the text between two of them with its brackets. */
interface Part {
  readonly isList: boolean;
  readonly pieces: Uint8Array[];
}

/** Most bytes outside of lists, because they are parsed. */
const OUTLINE_BYTES_MAX = 1024 * 1024;
const DEPTH_MAX = 64;
const [QUOTE, BACKSLASH, LIST, LIST_END, OBJECT, OBJECT_END] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Whether a byte outside of strings is part of a number, a word or a gap. */
const plain = new Uint8Array(256);
for (const byte of Buffer.from('0123456789+-.eE, \n\r\t:truefalsn')) plain[byte] = 1;

/** Scans JSON in pieces as they arrive. Checks its brackets, strings and end, but not the grammar within lists. */
class ListScan {
  readonly #parts: Part[] = [{ isList: false, pieces: [] }];
  /** Closing bytes of the open brackets. */
  readonly #open: number[] = [];
  #outlineBytes = 0;
  /** Start of the part in the current piece. */
  #from = 0;
  #isInString = false;
  /** Whether the next byte is escaped. */
  #isEscaped = false;
  #hasBegun = false;

  /** Returns whether the text can still be valid. */
  add(piece: Uint8Array): boolean {
    this.#from = 0;
    let at = 0;
    while (at < piece.length) {
      if (this.#isInString) {
        at = this.#skipString(piece, at);
        continue;
      }
      while (at < piece.length && plain[piece[at] ?? 0] === 1) at += 1;
      if (at < piece.length && !this.#take(piece, at)) return false;
      at += 1;
    }
    this.#keep(piece.subarray(this.#from));
    return this.#outlineBytes <= OUTLINE_BYTES_MAX;
  }

  /** Undefined if the text is not complete. */
  parts(): readonly Part[] | undefined {
    return this.#isInString || this.#open.length > 0 ? undefined : this.#parts;
  }

  /** Takes a byte that is not plain. Returns whether it is valid there. */
  #take(piece: Uint8Array, at: number): boolean {
    const byte = piece[at] ?? 0;
    if (byte === QUOTE) this.#isInString = true;
    else if (byte === LIST || byte === OBJECT) return this.#enter(byte, piece, at + 1);
    else if (this.#open.pop() !== byte) return false;
    else if (byte === LIST_END && this.#open.length === 1) this.#cut(piece, at, false);
    return true;
  }

  /** The outermost value must be an object. */
  #enter(byte: number, piece: Uint8Array, next: number): boolean {
    const depth = this.#open.length;
    if (depth === 0 && (byte === LIST || this.#hasBegun)) return false;
    this.#hasBegun = true;
    this.#open.push(byte === LIST ? LIST_END : OBJECT_END);
    if (depth === 1 && byte === LIST) this.#cut(piece, next, true);
    return depth < DEPTH_MAX;
  }

  /** Ends a part before `to`. */
  #cut(piece: Uint8Array, to: number, isList: boolean): void {
    this.#keep(piece.subarray(this.#from, to));
    this.#parts.push({ isList, pieces: [] });
    this.#from = to;
  }

  #keep(piece: Uint8Array): void {
    const part = this.#parts.at(-1);
    if (!part || piece.length === 0) return;
    part.pieces.push(piece);
    if (!part.isList) this.#outlineBytes += piece.length;
  }

  /** Returns the position after the closing quote, or the end of the piece. */
  #skipString(piece: Uint8Array, start: number): number {
    const quote = piece.indexOf(QUOTE, start);
    const end = quote === -1 ? piece.length : quote;
    let before = end;
    while (before > start && piece[before - 1] === BACKSLASH) before -= 1;
    const carried = before === start && this.#isEscaped ? 1 : 0;
    const isEscaped = (end - before + carried) % 2 === 1;
    if (quote === -1) {
      this.#isEscaped = isEscaped;
      return end;
    }
    this.#isEscaped = false;
    this.#isInString = isEscaped;
    return end + 1;
  }
}
