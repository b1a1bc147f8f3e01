import { Readable } from 'node:stream';
import { endCut, markAsCut, onClientLeft } from './cut-answers.ts';

export interface Relay {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Length that the headers announce. */
  readonly length: number;
  /** Event of the request. */
  readonly event: object;
  /** Closes the source at its first piece and sends an empty body. */
  readonly headOnly?: boolean;
  /**
   * Called once before the body ends, with the error that broke it; with undefined if the body is complete or the
   * client left.
   */
  readonly ended: (cause: unknown) => void;
}

/**
 * Response body that reads its source at the pace of the client. It never errors, because that would end the Lambda
 * process. If the source breaks or differs from the announced length, the response is cut. If the client leaves,
 * reading stops.
 */
export const relayBody = ({ bytes, length, event, headOnly, ended }: Relay): Readable => {
  let gone = false;
  let wake = (): void => undefined;
  const leave = (): void => {
    gone = true;
    wake();
  };
  const body = new Readable({
    read: () => wake(),
    destroy: (_error, done) => {
      leave();
      done();
    },
  });
  const room = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  const pump = async (): Promise<void> => {
    for await (const piece of whole(bytes, length)) {
      if (headOnly) return;
      if (!gone && !body.push(piece)) await room();
      if (gone) return;
    }
  };
  const cut = (cause: unknown): unknown => {
    if (gone) return undefined;
    markAsCut(event);
    return cause;
  };
  onClientLeft(event, leave);
  void pump()
    .catch(cut)
    .then(ended)
    .catch(() => markAsCut(event))
    .finally(() => {
      if (!body.destroyed) body.push(null);
      endCut(event);
    });
  return body;
};

/**
 * Throws at the end of a source that is shorter or longer than announced. Bytes beyond the length are not passed on.
 */
async function* whole(bytes: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Uint8Array> {
  let left = length;
  for await (const piece of bytes) {
    left -= piece.length;
    if (left < 0) break;
    yield piece;
  }
  if (left !== 0) throw new Error('the source of a response does not have the announced length');
}
