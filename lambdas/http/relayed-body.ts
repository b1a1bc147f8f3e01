import { Readable } from 'node:stream';
import { endCut, markAsCut, onClientLeft } from './cut-answers.ts';

export interface Relay {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** As the head announces it. */
  readonly length: number;
  /** The request that is answered. */
  readonly event: object;
  /** The source is closed at its first piece, and the body is empty. */
  readonly headOnly?: boolean;
  /** Called once before the body ends, with the error that broke it. Not called if the client left. */
  readonly ended: (cause: unknown) => void;
}

/**
 * A body whose source waits for its reader. It never fails, as a body that errors would take the Lambda process down: where the source
 * breaks, or is not as long as announced, the answer is cut. A client that leaves ends the reading of the source.
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

/** Throws at the end of a source that is shorter or longer than it should be; of a longer one the rest is not passed on. */
async function* whole(bytes: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Uint8Array> {
  let left = length;
  for await (const piece of bytes) {
    left -= piece.length;
    if (left < 0) break;
    yield piece;
  }
  if (left !== 0) throw new Error('the source of an answer is not as long as announced');
}
