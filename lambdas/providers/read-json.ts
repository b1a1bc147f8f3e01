import { type JsonValue, parseJson } from '../core/json.ts';
import { ANSWER_BYTES_MAX } from '../core/text/answer-size.ts';
import { unreadable } from './refusals.ts';
import type { UpstreamResponse } from './upstream-http.ts';

/** A whole answer as JSON and as it came. What cannot be read, or is longer, is `upstream_error` (ERR-9). */
export const readJsonText = async (
  response: UpstreamResponse,
  bytesMax = ANSWER_BYTES_MAX,
): Promise<{ readonly text: string; readonly value: JsonValue }> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of response.body) {
      bytes += piece.length;
      if (bytes > bytesMax) throw unreadable();
      pieces.push(piece);
    }
  } finally {
    response.discard();
  }
  try {
    const text = Buffer.concat(pieces).toString('utf8');
    return { text, value: parseJson(text) };
  } catch {
    throw unreadable();
  }
};

export const readJson = async (response: UpstreamResponse, bytesMax?: number): Promise<JsonValue> =>
  (await readJsonText(response, bytesMax)).value;
