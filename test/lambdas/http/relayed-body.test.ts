import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isCut, markAsLeft, onCutEnd } from '../../../lambdas/http/cut-answers.ts';
import { relayBody } from '../../../lambdas/http/relayed-body.ts';

/** Source that reports how far it was read and whether it was closed. */
const sourceOf = (pieces: readonly (string | Error)[]) => {
  const state = { taken: 0, closed: false };
  async function* bytes(): AsyncGenerator<Uint8Array> {
    try {
      for (const piece of pieces) {
        state.taken += 1;
        if (typeof piece !== 'string') throw piece;
        yield Buffer.from(piece);
      }
    } finally {
      state.closed = true;
    }
  }
  return { state, bytes: bytes() };
};

const relayed = (pieces: readonly (string | Error)[], length: number, ended?: (cause: unknown) => void) => {
  const event = {};
  const causes: unknown[] = [];
  let cutEnds = 0;
  onCutEnd(event, () => {
    cutEnds += 1;
  });
  const { bytes, state } = sourceOf(pieces);
  const body = relayBody({ bytes, length, event, ended: ended ?? ((cause) => void causes.push(cause)) });
  return { body, event, causes, state, cutEnds: () => cutEnds };
};

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
};

test('VID-4 a source is relayed completely, including empty pieces', async () => {
  const { body, event, causes, state } = relayed(['ab', '', 'c', ''], 3);
  expect(await text(body)).toBe('abc');
  expect([causes, isCut(event), state.closed]).toEqual([[undefined], false, true]);
});

test('GEN-7 HEAD closes the source at its first piece and sends nothing', async () => {
  const { bytes, state } = sourceOf(['ab', 'cd']);
  const causes: unknown[] = [];
  const event = {};
  const body = relayBody({ bytes, length: 4, event, headOnly: true, ended: (cause) => void causes.push(cause) });
  expect(await text(body)).toBe('');
  expect([causes, isCut(event), state.closed]).toEqual([[undefined], false, true]);
});

test.for([
  ['breaks', ['ab', new Error('gone')], 'ab'],
  ['breaks immediately', [new Error('gone')], ''],
  ['is too short', ['ab', 'c'], 'abc'],
  ['is too long', ['ab', 'cd', 'e'], 'abcd'],
] as const)('VID-4 a source that %s ends as an answer that was cut, without an error', async ([, pieces, expected]) => {
  const { body, event, causes, state, cutEnds } = relayed(pieces, 4);
  expect(await text(body)).toBe(expected);
  expect(causes).toEqual([expect.any(Error)]);
  expect([isCut(event), cutEnds(), state.closed]).toEqual([true, 1, true]);
});

const large = 'x'.repeat(64 * 1024);

test('VID-4 a source is not read ahead of its reader', async () => {
  const { body, state } = relayed(
    Array.from({ length: 50 }, () => large),
    50 * large.length,
  );
  await settle();
  expect(state.taken).toBeLessThan(4);
  expect((await text(body)).length).toBe(50 * large.length);
  expect(state.taken).toBe(50);
});

test('VID-4 a client that leaves ends the reading of the source', async () => {
  const { body, event, causes, state } = relayed(
    Array.from({ length: 50 }, () => large),
    50 * large.length,
  );
  await settle();
  markAsLeft(event);
  await settle();
  expect([state.closed, state.taken < 4, causes, isCut(event)]).toEqual([true, true, [undefined], false]);
  // The rest of the body can still be read, and ends.
  expect((await text(body)).length).toBeLessThan(4 * large.length);
});

test('VID-4 a reader that cancels the body ends the reading of the source', async () => {
  const { body, event, causes, state } = relayed(
    Array.from({ length: 50 }, () => large),
    50 * large.length,
  );
  await settle();
  body.destroy(new Error('not wanted'));
  await settle();
  expect([state.closed, causes, isCut(event)]).toEqual([true, [undefined], false]);
});

test('VID-4 an error after the client has left is ignored', async () => {
  const event = {};
  const causes: unknown[] = [];
  const broken = Promise.withResolvers<never>();
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('ab');
    yield await broken.promise;
  }
  const body = relayBody({ bytes: bytes(), length: 4, event, ended: (cause) => void causes.push(cause) });
  await settle();
  markAsLeft(event);
  broken.reject(new Error('aborted'));
  expect(await text(body)).toBe('ab');
  expect([causes, isCut(event)]).toEqual([[undefined], false]);
});

test('VID-4 a bug in the end callback cuts the response and does not crash the process', async () => {
  const { body, event } = relayed(['ab'], 2, () => {
    throw new TypeError('a bug');
  });
  expect(await text(body)).toBe('ab');
  expect(isCut(event)).toBe(true);
});
