import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import type { Server } from 'node:net';
import tls from 'node:tls';
import { afterEach, expect, test, vi } from 'vitest';
import { createImageFetch } from '../../../lambdas/providers/image-fetch.ts';

const png = Buffer.from('89504e470d0a1a0a', 'hex');
const refused = {
  code: 'invalid_image_format',
  param: 'image',
  message:
    'image: no image could be fetched from this URL. Use a public URL that responds quickly, or send the image as a base64 data URI.',
};

/** DER encoding by X.690: tag, length, content. */
const der = (tag: number, ...contents: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(contents);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
};
const sequence = (...contents: readonly Buffer[]): Buffer => der(0x30, ...contents);
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'));
const commonName = objectId('550403');
const subjectAltName = objectId('551d11');

/** Certificate for one name, signed by its own key (RFC 5280, section 4.1). */
const certificateFor = (name: string, years: readonly [from: string, to: string]): { key: KeyObject; cert: string } => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from(name)))));
  const time = (year: string): Buffer => der(0x17, Buffer.from(`${year}0101000000Z`));
  const names = sequence(subjectAltName, der(0x04, sequence(der(0x82, Buffer.from(name)))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    subject,
    sequence(time(years[0]), time(years[1])),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(names)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const bytes = sequence(body, ecdsaWithSha256, signature);
  return {
    key: privateKey,
    cert: `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
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
