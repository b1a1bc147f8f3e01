import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BinaryStream } from '../../../lambdas/http/binary-stream.ts';

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
};

const created = (backlogBytesMax?: number) => {
  const state = { drops: 0 };
  const stream = new BinaryStream(() => {
    state.drops += 1;
  }, backlogBytesMax);
  return { stream, state };
};

/** Reads the first piece, and the rest after a signal. */
const slowReader = () => {
  const taken: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const sink = new Writable({
    highWaterMark: 1,
    write: (piece: Buffer, _encoding, done) => {
      taken.push(piece);
      void promise.then(() => done());
    },
  });
  return { sink, taken, go: resolve };
};

test('BILL-8 data written before and after a reader starts arrives in order', async () => {
  const { stream, state } = created();
  stream.write(Buffer.from('ab'));
  const read = text(stream.body);
  await settle();
  stream.write(Buffer.from(''));
  stream.write(Buffer.from('cd'));
  stream.end();
  stream.write(Buffer.from('too late'));
  expect([await read, state.drops]).toEqual(['abcd', 0]);
});

test('BILL-8 a slow reader that is not too far behind receives everything', async () => {
  const { stream, state } = created(1_000_000);
  const { sink, taken, go } = slowReader();
  const piped = pipeline(stream.body, sink);
  for (let at = 0; at < 9; at += 1) stream.write(Buffer.alloc(100_000, at));
  await settle();
  stream.end();
  go();
  await piped;
  expect([Buffer.concat(taken).length, state.drops]).toEqual([900_000, 0]);
});

test('BILL-8 a reader too far behind is dropped once and receives no more', async () => {
  const { stream, state } = created(1_000);
  const { sink, taken, go } = slowReader();
  const piped = pipeline(stream.body, sink);
  stream.write(Buffer.alloc(100_000));
  await settle();
  for (let at = 0; at < 5; at += 1) stream.write(Buffer.alloc(70_000, 1));
  expect(state.drops).toBe(1);
  stream.end();
  go();
  await piped;
  expect(Buffer.concat(taken).length).toBeLessThan(350_000);
});

test('BILL-8 16 MiB can wait for a reader before it is dropped', async () => {
  const { stream, state } = created();
  const { sink } = slowReader();
  void pipeline(stream.body, sink).catch(() => undefined);
  await settle();
  for (let at = 0; at < 17; at += 1) stream.write(Buffer.alloc(1024 * 1024));
  expect(state.drops).toBe(0);
  for (let at = 0; at < 3; at += 1) stream.write(Buffer.alloc(1024 * 1024));
  expect(state.drops).toBe(1);
  stream.body.destroy();
});

test('BILL-8 data written after a reader has left is dropped without an error', async () => {
  const { stream, state } = created(10);
  const errors: unknown[] = [];
  stream.body.on('error', (error) => errors.push(error));
  stream.body.resume();
  await settle();
  stream.body.destroy();
  await settle();
  for (let at = 0; at < 5; at += 1) stream.write(Buffer.alloc(100));
  stream.end();
  await settle();
  expect([errors, state.drops]).toEqual([[], 0]);
});

test('BILL-9 an abandoned response has no end, and its body throws no error', async () => {
  const { stream } = created();
  const errors: unknown[] = [];
  stream.body.on('error', (error) => errors.push(error));
  stream.write(Buffer.from('half'));
  const { sink, go } = slowReader();
  go();
  const piped = pipeline(stream.body, sink).then(
    () => 'ended',
    (error: NodeJS.ErrnoException) => error.code,
  );
  await settle();
  stream.abandon();
  expect([await piped, errors, stream.body.readableEnded]).toEqual(['ERR_STREAM_PREMATURE_CLOSE', [], false]);
});
