import { Readable } from 'node:stream';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import type { ByteRange } from '../../core/videos/dependencies.ts';
import { send } from './failures.ts';

/** The bytes of an object. Ends after what was asked for: the stand-in for S3 takes a range of the first byte alone for the whole file. */
export const piecesOf = ({ Body }: GetObjectCommandOutput, range?: ByteRange): AsyncIterable<Uint8Array> => {
  if (!(Body instanceof Readable)) throw new Error('an object was opened and has no stream');
  let left = range ? range.last - range.first + 1 : Number.POSITIVE_INFINITY;
  const finish = async (): Promise<IteratorReturnResult<undefined>> => {
    Body.destroy();
    return { done: true, value: undefined };
  };
  return {
    // Not a generator: one that was never begun would leave the connection open when it is given up.
    [Symbol.asyncIterator]: () => {
      const pieces: AsyncIterator<Buffer> = Body[Symbol.asyncIterator]();
      return {
        next: async () => {
          const step = await send(() => pieces.next());
          if (step.done) return { done: true, value: undefined };
          if (left <= 0) return finish();
          const piece = step.value.subarray(0, left);
          left -= piece.length;
          return { done: false, value: piece };
        },
        return: finish,
      };
    },
  };
};
