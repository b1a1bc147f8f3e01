import { expect, test } from 'vitest';
import { createResponseStream, installLambdaRuntime, type Prelude } from '../../../lambdas/host/lambda-runtime.ts';

installLambdaRuntime();

const opened = () => {
  const seen: { heads: Prelude[]; text: string; ended: number } = { heads: [], text: '', ended: 0 };
  const stream = createResponseStream({
    head: (prelude) => seen.heads.push(prelude),
    write: (bytes, done) => {
      seen.text += bytes.toString();
      done();
    },
    end: (done) => {
      seen.ended += 1;
      done();
    },
  });
  const { HttpResponseStream } = awslambda;
  return { seen, stream, from: (prelude: Prelude) => HttpResponseStream.from(stream, { ...prelude }) };
};

const finished = (stream: NodeJS.WritableStream): Promise<void> => new Promise((resolve) => stream.end(resolve));

const teapot = { statusCode: 418, headers: { 'x-a': 'b' } };

test('GEN-3 a stream that ends without a write loses its status and headers, as in Lambda', async () => {
  const { seen, from } = opened();
  await finished(from(teapot));
  expect(seen).toEqual({ heads: [{ statusCode: 200 }], text: '', ended: 1 });
});

test('GEN-3 the first write sends the head, even if it is empty', async () => {
  for (const words of [[''], ['', 'a', 'b'], ['a', 'b']]) {
    const { seen, from } = opened();
    const stream = from(teapot);
    for (const word of words) stream.write(word);
    await finished(stream);
    expect(seen).toEqual({ heads: [teapot], text: words.join(''), ended: 1 });
  }
});

test('GEN-3 a response without a head has status 200', async () => {
  const { seen, stream } = opened();
  stream.write('x');
  await finished(stream);
  expect(seen).toEqual({ heads: [{ statusCode: 200 }], text: 'x', ended: 1 });
});
