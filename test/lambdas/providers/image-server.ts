import { isIP } from 'node:net';
import { afterEach, expect } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { createImageFetch } from '../../../lambdas/providers/image-fetch.ts';
import { startVendor, type VendorServer } from './vendor-server.ts';

export const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(500, 7)]);
export const unreachable =
  'image: no image could be fetched from this URL. Use a public URL that responds quickly, or send the image as a base64 data URI.';

const running: VendorServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

export type Play = Parameters<typeof startVendor>[0];

/** Server with a host name in its URL, as a client would write it. */
export const serverThat = async (play: Play): Promise<VendorServer & { readonly named: string }> => {
  const server = await startVendor(play);
  running.push(server);
  return { ...server, named: server.url.replace('127.0.0.1', 'images.example') };
};

export const localFetch = (timeoutMs?: number) =>
  createImageFetch({
    lookup: (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: isIP('127.0.0.1') }]),
    reach: { address: (address) => address === '127.0.0.1', port: () => true },
    timeoutMs,
  });

export const get = (url: string, { bytesMax = 10_000, timeoutMs = 5_000 } = {}) =>
  localFetch(timeoutMs)(url, { param: 'image', bytesMax });

export const refusalOf = async (action: Promise<unknown>): Promise<string> => {
  const error = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(GatewayError);
  expect(error).toMatchObject({ code: 'invalid_image_format', status: 400, param: 'image' });
  return (error as GatewayError).message;
};
