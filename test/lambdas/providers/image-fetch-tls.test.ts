import type { KeyObject } from 'node:crypto';
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import type { Server } from 'node:net';
import tls from 'node:tls';
import { afterEach, expect, test, vi } from 'vitest';
import { createImageFetch } from '../../../lambdas/providers/image-fetch.ts';
import { certificateFor } from '../../support/certificate.ts';

const png = Buffer.from('89504e470d0a1a0a', 'hex');
const refused = {
  code: 'invalid_image_format',
  param: 'image',
  message:
    'image: no image could be fetched from this URL. Use a public URL that responds quickly, or send the image as a base64 data URI.',
};

const good = certificateFor('images.example', ['20', '49']);
const expired = certificateFor('images.example', ['20', '21']);

const running: (http.Server | https.Server)[] = [];
const authorities = tls.getCACertificates('default');
afterEach(() => {
  vi.unstubAllEnvs();
  tls.setDefaultCACertificates(authorities);
  for (const server of running.splice(0)) server.close().closeAllConnections();
});

const portOf = async (server: http.Server | https.Server): Promise<number> => {
  running.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = (server as Server).address();
  return address !== null && typeof address === 'object' ? address.port : 0;
};
const securePort = (certificate: { key: KeyObject; cert: string }, play: RequestListener): Promise<number> =>
  portOf(
    https.createServer({ key: certificate.key.export({ type: 'pkcs8', format: 'pem' }), cert: certificate.cert }, play),
  );
const plainPort = (play: RequestListener): Promise<number> => portOf(http.createServer(play));

const get = (url: string) =>
  createImageFetch({
    lookup: (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
    reach: { address: (address) => address === '127.0.0.1', port: () => true },
    timeoutMs: 5_000,
  })(url, { param: 'image', bytesMax: 1_000 });

const counted = () => {
  const seen: (string | undefined)[] = [];
  const play: RequestListener = (request, response) => {
    seen.push(request.url);
    response.end(png);
  };
  return { seen, play };
};

const image = { mediaType: 'image/png', bytes: png };

test('CHAT-6 https works with a trusted certificate for the name', async () => {
  tls.setDefaultCACertificates([good.cert]);
  const { seen, play } = counted();
  expect(await get(`https://images.example:${await securePort(good, play)}/a`)).toEqual(image);
  expect(seen).toEqual(['/a']);
});

test.for([
  ['is not trusted', 'images.example', good, []],
  ['is for another name', 'other.example', good, [good.cert]],
  ['is for a name and not for the address', '127.0.0.1', good, [good.cert]],
  ['has expired', 'images.example', expired, [expired.cert]],
] as const)('CHAT-6 a certificate that %s is rejected before the request', async ([, host, certificate, trusted]) => {
  tls.setDefaultCACertificates(trusted);
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const { seen, play } = counted();
  await expect(get(`https://${host}:${await securePort(certificate, play)}/`)).rejects.toMatchObject(refused);
  expect(seen).toEqual([]);
});

test('CHAT-6 a plain server at an https URL is rejected', async () => {
  const { seen, play } = counted();
  await expect(get(`https://images.example:${await plainPort(play)}/`)).rejects.toMatchObject(refused);
  expect(seen).toEqual([]);
});

test('CHAT-6 a redirect can lead from http to https, not from https to http', async () => {
  tls.setDefaultCACertificates([good.cert]);
  const { seen, play } = counted();
  const plain = await plainPort(play);
  const secure = await securePort(good, play);
  const toPlain = await securePort(good, (_, response) =>
    response.writeHead(302, { location: `http://images.example:${plain}/plain` }).end(),
  );
  const toSecure = await plainPort((_, response) =>
    response.writeHead(302, { location: `https://images.example:${secure}/secure` }).end(),
  );
  await expect(get(`https://images.example:${toPlain}/`)).rejects.toMatchObject(refused);
  expect(await get(`http://images.example:${toSecure}/`)).toEqual(image);
  expect(seen).toEqual(['/secure']);
});
