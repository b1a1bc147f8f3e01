import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { type Coding, codingOf, decodeBody, decodingBytes } from '../../../lambdas/http/decode-body.ts';
import { BODY_BYTES_MAX } from '../../../lambdas/limits.ts';

const compress = {
  gzip: (bytes: Buffer) => gzipSync(bytes, { level: 1 }),
  br: (bytes: Buffer) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: (bytes: Buffer) => zstdCompressSync(bytes),
};
const names = ['gzip', 'br', 'zstd'] as const;

const coding = (name: string): Coding => {
  const found = codingOf(name);
  if (found === undefined || found === 'unsupported') throw new Error(`no coding ${name}`);
  return found;
};

const decode = async (name: string, bytes: Buffer) => {
  let grown = 0;
  const result = await decodeBody(bytes, coding(name), (more) => {
    grown += more;
    return undefined;
  });
  return { result, grown };
};

test.for(names)('GEN-12 a body in %s is decoded', async (name) => {
  for (const text of ['{"a":"é"}', JSON.stringify({ a: 'x'.repeat(3_000_000) })]) {
    const { result } = await decode(` ${name.toUpperCase()}`, compress[name](Buffer.from(text)));
    expect(result.toString() === text).toBe(true);
  }
});

test.for(names)('GEN-1 a body in %s can decode to 20,971,520 bytes and not to one more', async (name) => {
  const most = await decode(name, compress[name](Buffer.alloc(BODY_BYTES_MAX)));
  expect([most.result.length, most.grown]).toEqual([BODY_BYTES_MAX, decodingBytes(coding(name))]);
  expect((await decode(name, compress[name](Buffer.alloc(BODY_BYTES_MAX + 1)))).result).toBe('too-long');
});

test.for(names)('GEN-14 a decompression bomb in %s never needs more memory than is reserved', async (name) => {
  const bomb = compress[name](Buffer.alloc(4 * BODY_BYTES_MAX));
  const { result, grown } = await decode(name, bomb);
  expect(result).toBe('too-long');
  expect(grown).toBeLessThanOrEqual(decodingBytes(coding(name)));
});

test('GEN-14 zstd with a window above 8 MiB is 400 before it takes memory', async () => {
  const params = { [constants.ZSTD_c_windowLog]: 24, [constants.ZSTD_c_contentSizeFlag]: 0 };
  const wide = zstdCompressSync(Buffer.alloc(BODY_BYTES_MAX), { params });
  await expect(decode('zstd', wide)).rejects.toMatchObject({ status: 400, param: 'content-encoding' });
});

test.for(names)('GEN-2 a body that is not valid %s is 400 and names the header', async (name) => {
  const whole = compress[name](Buffer.from('{"a":1}'));
  const followed = Buffer.concat([whole, Buffer.from('more')]);
  for (const bytes of [Buffer.from('{"a":1}'), whole.subarray(0, -1), whole.subarray(0, 3), followed]) {
    await expect(decode(name, bytes)).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request_error',
      param: 'content-encoding',
    });
  }
});

test('GEN-14 decoding waits for memory, and ends with the error of the budget', async () => {
  const full = new GatewayError('service_unavailable', 'Retry.');
  const body = compress.gzip(Buffer.alloc(1_000_000));
  await expect(decodeBody(body, coding('gzip'), () => Promise.reject(full))).rejects.toBe(full);
});

test.for(['deflate', 'gzip, br', 'gzip, identity', 'toString', 'zstd;q=1'])('GEN-12 %s is not supported', (name) => {
  expect(codingOf(name)).toBe('unsupported');
});
