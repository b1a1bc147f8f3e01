import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { patient } from '../../../../lambdas/functions/wiring/clients.ts';
import { type Operation, startFakeS3 } from './video-fake-s3.ts';

const MiB = 1024 * 1024;
const broken = new GatewayError('upstream_error', 'it is incomplete');

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const start = async (...trouble: Parameters<typeof startFakeS3>) => {
  const fake = await startFakeS3(...trouble);
  cleanups.push(fake.stop);
  return fake;
};

/** Returns a file of this many MiB, and how far it was read and whether it was closed. */
const fileOf = (megabytes: number, error?: unknown) => {
  const seen = { pulled: 0, closed: false };
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; at < megabytes; at += 1) {
        seen.pulled += 1;
        yield Buffer.alloc(MiB, at);
      }
      if (error !== undefined) throw error;
    } finally {
      seen.closed = true;
    }
  }
  return { seen, bytes: read() };
};

const refusing =
  (wanted: Operation, status = 403): NonNullable<Parameters<typeof startFakeS3>[0]> =>
  (operation, response) => {
    if (operation !== wanted) return false;
    response.writeHead(status).end('<Error><Code>AccessDenied</Code></Error>');
    return true;
  };
const unavailable = { name: 'StoreError', kind: 'unavailable' };

test('VID-5 a file is uploaded in parts of 8 MiB with name and type, and the parts are joined', async () => {
  const { files, asked, operations } = await start();
  await files.put('video_1', fileOf(17).bytes);
  expect(operations()).toEqual(['create', 'part', 'part', 'part', 'complete']);
  expect(asked[0]?.headers['content-type']).toBe('video/mp4');
  const lengths = asked.map(({ headers }) => Number(headers['content-length'])).slice(1, 4);
  expect(lengths.toSorted((one, other) => one - other)).toEqual([MiB, 8 * MiB, 8 * MiB]);
});

test('VID-5 a small file is uploaded in one call', async () => {
  const { files, asked, operations } = await start();
  await files.put('video_1', fileOf(8).bytes);
  expect(operations()).toEqual(['put']);
  expect(asked[0]?.headers).toMatchObject({ 'content-type': 'video/mp4', 'content-length': String(8 * MiB) });
});

test.each(['files', 'filesAsAws'] as const)('VID-5 %s: every part has its own checksum', async (which) => {
  const fake = await start();
  await fake[which].put('video_1', fileOf(9).bytes);
  await fake[which].put('video_1', fileOf(1).bytes);
  const [create] = fake.asked;
  expect(create?.headers['x-amz-checksum-algorithm']).toBe('CRC32');
  const carrying = fake.asked.filter(({ operation }) => operation === 'part' || operation === 'put');
  expect(carrying).toHaveLength(3);
  for (const { headers } of carrying) {
    expect(headers['x-amz-checksum-crc32']).toMatch(/^[A-Za-z0-9+/]{6}==$/);
    expect([headers['x-amz-trailer'], headers['transfer-encoding']]).toEqual([undefined, undefined]);
  }
  const complete = fake.asked.find(({ operation }) => operation === 'complete');
  expect(complete?.body?.match(/<ChecksumCRC32>/g)).toHaveLength(2);
});

test.each([9, 17])('VID-5 a source that stops after %i MiB leaves nothing, and its error is thrown', async (size) => {
  const { files, operations } = await start();
  await expect(files.put('video_1', fileOf(size, broken).bytes)).rejects.toBe(broken);
  expect(operations().at(-1)).toBe('abort');
  expect(operations()).not.toContain('complete');
});

test('VID-5 a source that stops before the first part starts no upload', async () => {
  const { files, operations } = await start();
  await expect(files.put('video_1', fileOf(3, broken).bytes)).rejects.toBe(broken);
  expect(operations()).toEqual([]);
});

test.each(['part', 'complete'] as const)('VID-5 an upload whose %s fails leaves nothing', async (operation) => {
  const { files, operations } = await start(refusing(operation));
  const file = fileOf(17);
  await expect(files.put('video_1', file.bytes)).rejects.toMatchObject(unavailable);
  expect(operations().filter((name) => name === 'abort')).toHaveLength(1);
  expect(operations().at(-1)).toBe('abort');
  expect(file.seen.closed).toBe(true);
});

test('VID-5 a completion with status 200 and an error in its body is a failure', async () => {
  const { files, operations } = await start((operation, response) => {
    if (operation !== 'complete') return false;
    response.end('<?xml version="1.0"?>\n<Error><Code>InternalError</Code><Message>m</Message></Error>');
    return true;
  });
  await expect(files.put('video_1', fileOf(9).bytes)).rejects.toMatchObject(unavailable);
  expect(operations().at(-1)).toBe('abort');
});

test.each(['create', 'put'] as const)('VID-5 an upload whose %s fails is a failure of the store', async (operation) => {
  const { files, operations } = await start(refusing(operation));
  const file = fileOf(operation === 'put' ? 1 : 9);
  await expect(files.put('video_1', file.bytes)).rejects.toMatchObject(unavailable);
  expect(operations()).toEqual([operation]);
  expect(file.seen.closed).toBe(true);
});

test('VID-5 a failed cleanup hides no error', async () => {
  const { files, operations } = await start(refusing('abort'));
  await expect(files.put('video_1', fileOf(9, broken).bytes)).rejects.toBe(broken);
  expect(operations().at(-1)).toBe('abort');
});

test('VID-5 at most two parts of a file are read ahead, however slow the store', async () => {
  const waiting: (() => void)[] = [];
  const { files, asked } = await start(async (operation) => {
    if (operation === 'part') await new Promise<void>((resolve) => waiting.push(resolve));
    return false;
  });
  const file = fileOf(41);
  const put = files.put('video_1', file.bytes);
  for (let done = 0; done < 6; done += 1) {
    while (waiting.length === 0) await sleep(1);
    await sleep(10);
    expect(file.seen.pulled).toBeLessThanOrEqual((done + 2) * 8 + 3);
    waiting.shift()?.();
  }
  await put;
  expect(asked.filter(({ operation }) => operation === 'part')).toHaveLength(6);
});

test('VID-4 the request for a range names its first and its last byte', async () => {
  const { files, asked } = await start();
  await files.open('video_1', { first: 5, last: 9 });
  await files.open('video_1');
  expect(asked.map(({ headers }) => headers.range)).toEqual(['bytes=5-9', undefined]);
});

test.each(['before', 'after'])(
  'VID-4 a file that stops early fails for a reader that starts %s the break',
  async (when) => {
    const broken = Promise.withResolvers<void>();
    let breakOff = (): unknown => undefined;
    const { files } = await start((_operation, response) => {
      response.on('close', broken.resolve);
      breakOff = () => response.destroy();
      response.writeHead(200, { 'content-length': String(MiB) }).write('the beginning');
      return true;
    });
    const bytes = await files.open('video_1');
    if (when === 'after') {
      breakOff();
      await broken.promise;
    } else setImmediate(breakOff);
    const read = async () => {
      let length = 0;
      for await (const piece of bytes ?? []) length += piece.length;
      return length;
    };
    await expect(read()).rejects.toMatchObject(unavailable);
  },
);

test.each([
  ['before the first byte', 0],
  ['after the first piece', 1],
])('VID-4 a reader that leaves %s releases the connection', async (_when, pieces) => {
  const closed = Promise.withResolvers<void>();
  const { files } = await start((_operation, response) => {
    response.on('close', closed.resolve);
    response.writeHead(200, { 'content-length': String(50 * MiB) }).write(Buffer.alloc(8 * MiB));
    return true;
  });
  const reader = (await files.open('video_1'))?.[Symbol.asyncIterator]();
  for (let read = 0; read < pieces; read += 1) expect((await reader?.next())?.done).toBe(false);
  expect(await reader?.return?.()).toEqual({ done: true, value: undefined });
  await closed.promise;
});

test('VID-4 a reader can pause longer than the time limit of a response', async () => {
  const patience = { ...patient, maxAttempts: 20, requestTimeout: 200 };
  const { files } = await start((_operation, response) => {
    response.writeHead(200, { 'content-length': String(16 * MiB) }).end(Buffer.alloc(16 * MiB));
    return true;
  }, patience);
  let length = 0;
  for await (const piece of (await files.open('video_1')) ?? []) {
    if (length === 0) await sleep(300);
    length += piece.length;
  }
  expect(length).toBe(16 * MiB);
});
