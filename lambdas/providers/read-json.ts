import { GatewayError } from '../core/errors/gateway-error.ts';
import { type JsonValue, parseJson } from '../core/json.ts';
import type { UpstreamResponse } from './upstream-http.ts';

/** More than any vendor's JSON answer has; what is longer is not read into memory. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** A whole answer as JSON. What cannot be read is `upstream_error` (ERR-9). */
export const readJson = async (response: UpstreamResponse): Promise<JsonValue> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of response.body) {
      bytes += piece.length;
      if (bytes > ANSWER_BYTES_MAX) throw unreadable();
      pieces.push(piece);
    }
  } finally {
    response.discard();
  }
  try {
    return parseJson(Buffer.concat(pieces).toString('utf8'));
  } catch {
    throw unreadable();
  }
};

const unreadable = (): GatewayError =>
  new GatewayError('upstream_error', 'The model sent something unreadable. Nothing was charged.');
