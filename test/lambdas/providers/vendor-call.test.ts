import { expect, test } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { callVendor, type VendorCall } from '../../../lambdas/providers/vendor-call.ts';
import { providerOf } from '../core/text/text-models.ts';
import { CANARY, playVendor } from './played-vendor.ts';

const call = async (changes: Partial<VendorCall>, status = 200) => {
  const { options, seen } = playVendor('https://vendor.test/v1//', { status, body: {} });
  const provider = providerOf({ headers: { 'x-version': '1' } });
  const { signal } = new AbortController();
  const refuse = (refused: number): GatewayError => new GatewayError('upstream_error', `refused ${refused}`);
  await callVendor(options, { provider, path: '/a', streamed: false, signal, refuse, ...changes });
  const [request] = seen.requests;
  if (!request) throw new Error('nothing was sent');
  return request;
};

test('GEN-5 JSON is posted with the headers in their order', async () => {
  const request = await call({ body: { a: 'é' } });
  expect(request).toMatchObject({ method: 'POST', url: 'https://vendor.test/v1/a', body: '{"a":"é"}' });
  expect(request.bytes).toBeUndefined();
  expect(Object.entries(request.headers)).toEqual([
    ['content-type', 'application/json'],
    ['accept', 'application/json'],
    ['accept-encoding', 'identity'],
    ['x-version', '1'],
    ['authorization', `Bearer ${CANARY}`],
  ]);
  expect((await call({ body: {}, streamed: true })).headers.accept).toBe('text/event-stream');
});

test('AUTH-2 headers of a call are sent, and never replace those of the provider or its key', async () => {
  const headers = { 'x-extra': 'a', 'x-version': '2', authorization: 'Bearer theirs' };
  const request = await call({ body: {}, headers });
  expect(request.headers).toMatchObject({ 'x-extra': 'a', 'x-version': '1', authorization: `Bearer ${CANARY}` });
});

test('GEN-5 a call without a body is a GET', async () => {
  const request = await call({ accept: 'video/mp4' });
  expect([request.method, request.body, request.bytes]).toEqual(['GET', '', undefined]);
  expect(Object.entries(request.headers)).toEqual([
    ['accept', 'video/mp4'],
    ['accept-encoding', 'identity'],
    ['x-version', '1'],
    ['authorization', `Bearer ${CANARY}`],
  ]);
});

test('VID-2 a form is posted with its boundary', async () => {
  const form = new FormData();
  form.set('a', 'b');
  const { method, headers, body, bytes } = await call({ form });
  expect([method, body]).toEqual(['POST', '']);
  const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(headers['content-type'] ?? '')?.[1];
  expect(Buffer.from(bytes ?? []).toString()).toBe(
    `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--${boundary}--\r\n`,
  );
});

test('ERR-9 every status other than the accepted ones, by default 200, is a rejection', async () => {
  await call({ body: {} });
  for (const status of [201, 204, 302, 404]) {
    await expect(call({ body: {} }, status)).rejects.toThrow(`refused ${status}`);
    await call({ body: {}, accepts: (given) => given === status }, status);
  }
  await expect(call({ body: {}, accepts: (given) => given === 201 })).rejects.toThrow('refused 200');
});
