import { expect, test } from 'vitest';
import { frameOf, framesIn, readResponses } from './responses-reading.ts';
import { inPieces } from './stream-reading.ts';

const [created = '', running = '', ...rest] = framesIn('responses-stream.sse');

const failed = (error: unknown) => frameOf({ type: 'response.failed', response: { status: 'failed', error } });
const flat = (error: object) => frameOf({ type: 'error', sequence_number: 2, ...error });
const nested = (error: object) => frameOf({ type: 'error', sequence_number: 2, error });

const table = [
  [{ code: 'server_error', message: 'words' }, 'upstream_error'],
  [{ code: 'vector_store_timeout', message: 'words' }, 'upstream_error'],
  [{ code: 'rate_limit_exceeded', message: 'words' }, 'upstream_capacity'],
  [{ code: 'server_is_overloaded', message: 'words' }, 'upstream_capacity'],
  [{ code: 'insufficient_quota', message: 'words' }, 'service_unavailable'],
  [{ code: 'invalid_prompt', message: 'words' }, 'content_filter'],
  [{ code: 'context_length_exceeded', message: 'words' }, 'context_length_exceeded'],
  [{ code: 'failed_to_download_image', message: 'words' }, 'invalid_image_format'],
  [{ code: 'invalid_base64_image', message: 'words' }, 'invalid_image_format'],
  [{ code: 'image_content_policy_violation', message: 'words' }, 'content_filter'],
  [{ code: 'bio_policy', message: 'words' }, 'content_filter'],
  [{ code: null, message: 'words', param: null }, 'upstream_error'],
] as const;

test.for(table)('ERR-9 and BILL-9 an error %j within a stream is %s, in each of its forms', async ([error, code]) => {
  for (const side of ['native', 'neutral'] as const) {
    for (const frame of [failed(error), flat(error), nested(error), `data: ${JSON.stringify({ error })}\n\n`]) {
      const read = await readResponses(side, inPieces(`${created}${running}${rest.slice(0, 6).join('')}${frame}`));
      expect([read.end, read.error?.code]).toEqual([undefined, code]);
      expect(read.events.length + read.deltas.length).toBe(side === 'native' ? 8 : 2);
      expect(read.notices).toEqual(code === 'service_unavailable' ? ['vendor_refused_us'] : []);
    }
  }
});

test('ERR-4 all events before an early error are announcements', async () => {
  for (const side of ['native', 'neutral'] as const) {
    const read = await readResponses(side, inPieces(`${created}${running}${failed({ code: 'server_error' })}`));
    expect([read.opening, read.error?.code]).toEqual([2, 'upstream_error']);
  }
});

test('ERR-9 a failure without a message is an upstream_error', async () => {
  for (const frame of [
    failed(null),
    failed(undefined),
    frameOf({ type: 'response.failed' }),
    frameOf({ type: 'error' }),
  ]) {
    expect((await readResponses('native', inPieces(frame))).error?.code).toBe('upstream_error');
  }
  expect((await readResponses('native', inPieces('event: error\ndata: {\n\n'))).error?.code).toBe('upstream_error');
});

test('ERR-5 the provider key is in no message, and a param is in the client’s terms', async () => {
  const frame = flat({
    code: 'invalid_image',
    message: 'bad sk-vendor-canary',
    param: 'input[1].content[0].image_url',
  });
  const native = await readResponses('native', inPieces(frame));
  expect(native.error).toEqual({
    code: 'invalid_image_format',
    param: 'input[1].content[0].image_url',
    message: 'input[1].content[0].image_url: bad [redacted]',
  });
  expect((await readResponses('neutral', inPieces(frame))).error?.param).toBe('messages[2]');
});

test('ERR-9 text that looks like an error is not an error', async () => {
  const delta = frameOf({ type: 'response.output_text.delta', delta: '"error": {' }).replace(/^event: .*\n/, '');
  expect((await readResponses('native', inPieces(created, delta))).events).toContain(delta);
});
