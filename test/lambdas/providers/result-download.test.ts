import type { IncomingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { createResultDownload, type ResultDownloadDependencies } from '../../../lambdas/providers/result-download.ts';
import { png, serverThat } from './image-server.ts';
import { closedPort } from './vendor-server.ts';
import { errorOf } from './video-wire-world.ts';

const plain = 'http://vendor.test/v1';
const secure = 'https://vendor.test/v1';

const download = (
  url: string,
  deps: ResultDownloadDependencies = {},
  baseUrl = plain,
  signal = AbortSignal.timeout(20_000),
) => createResultDownload(deps)({ url, baseUrl, signal });

const notFetched = {
  code: 'upstream_error',
  status: 502,
  message: 'The image could not be fetched from the provider. Nothing was charged. Retry the request.',
};

test('IMG-6 the bytes arrive unchanged, requested without any key', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = await serverThat((request, response) => {
    seen.push(request.headers);
    response.end(png);
  });
  expect(Buffer.from(await download(`${server.url}/a.png?se=1&sig=a%2Bb`))).toEqual(png);
  expect(server.requests).toEqual([{ method: 'GET', path: '/a.png?se=1&sig=a%2Bb', body: '' }]);
  expect(seen).toEqual([
    {
      host: new URL(server.url).host,
      accept: 'image/*, */*;q=0.1',
      'accept-encoding': 'identity',
      connection: 'close',
    },
  ]);
});

test.for([0, 9])(
  'GEN-5 a file cut off after %i bytes is requested once more, because downloads are free',
  async (sent) => {
    const server = await serverThat((_, response) => {
      if (server.requests.length > 1) return void response.end(png);
      response.writeHead(200, { 'content-length': png.length });
      response.write(png.subarray(0, sent), () => response.destroy());
    });
    expect(Buffer.from(await download(server.url))).toEqual(png);
    expect(server.requests).toHaveLength(2);
  },
);

test('IMG-7 a file that is cut off twice is an error', async () => {
  const server = await serverThat((_, response) => {
    response.writeHead(200, { 'content-length': png.length });
    response.write(png.subarray(0, 9), () => response.destroy());
  });
  expect(await errorOf(download(server.url))).toMatchObject(notFetched);
  expect(server.requests).toHaveLength(2);
});

test.for([500, 503])('GEN-5 a %i is requested once more and not again', async (status) => {
  const server = await serverThat((_, response) => response.writeHead(status).end());
  expect(await errorOf(download(server.url))).toMatchObject(notFetched);
  expect(server.requests).toHaveLength(2);
});

test.for([204, 206, 403, 404])('IMG-7 a %i is not requested again', async (status) => {
  const server = await serverThat((_, response) => response.writeHead(status).end());
  expect(await errorOf(download(server.url))).toMatchObject(notFetched);
  expect(server.requests).toHaveLength(1);
});

test('IMG-7 a closed port is an error', async () => {
  expect(await errorOf(download(`http://127.0.0.1:${await closedPort()}/`))).toMatchObject(notFetched);
});

test('IMG-7 a file of exactly the limit is fetched', async () => {
  const server = await serverThat((_, response) => response.end(Buffer.alloc(500)));
  expect(await download(server.url, { bytesMax: 500 })).toHaveLength(500);
});

test.for([true, false])(
  'IMG-7 the rest of a file beyond the limit is not read; it declares its length: %s',
  async (declaresLength) => {
    const server = await serverThat((_, response) => {
      if (declaresLength) response.writeHead(200, { 'content-length': 501 }).flushHeaders();
      else response.write(Buffer.alloc(501));
    });
    expect(await errorOf(download(server.url, { bytesMax: 500 }))).toMatchObject(notFetched);
    expect(server.requests).toHaveLength(1);
  },
);

test.for([
  'http://127.0.0.1:1/a.png',
  'https://127.0.0.1/a.png',
  'https://[::1]/a.png',
  'https://169.254.169.254/latest/meta-data',
  'https://user:secret@files.vendor.test/a.png',
  'https://files.vendor.test:22/a.png',
  'ftp://files.vendor.test/a.png',
  'file:///etc/passwd',
  'data:image/png;base64,AAAA',
  'a.png',
  '',
  `https://files.vendor.test/${'a'.repeat(8_192)}`,
])('ERR-5 a provider with https cannot lead to %s', async (url) => {
  let looked = 0;
  const lookup: ResultDownloadDependencies['lookup'] = (_, __, callback) => {
    looked += 1;
    callback(new Error('not requested'), []);
  };
  expect(await errorOf(download(url, { lookup }, secure))).toMatchObject(notFetched);
  expect(looked).toBe(0);
});

test.for(['127.0.0.1', '10.0.0.1', '169.254.169.254'])(
  'ERR-5 a name that resolves to %s gets no connection',
  async (address) => {
    const server = await serverThat((_, response) => response.end(png));
    const lookup: ResultDownloadDependencies['lookup'] = (_, __, callback) => callback(null, [{ address, family: 4 }]);
    const url = `https://files.vendor.test:${new URL(server.url).port}/`;
    const reach = { address: (host: string) => host === '8.8.8.8', port: () => true };
    expect(await errorOf(download(url, { lookup, reach }, secure))).toMatchObject(notFetched);
    expect(server.sockets).toHaveLength(0);
  },
);

test.for(['http://127.0.0.1:1/', 'https://10.0.0.1/', 'file:///etc/passwd', ''])(
  'ERR-5 a redirect to "%s" is not followed',
  async (location) => {
    const server = await serverThat((_, response) => response.writeHead(302, { location }).end());
    expect(await errorOf(download(server.url))).toMatchObject(notFetched);
    expect(server.requests).toHaveLength(1);
  },
);

test('IMG-6 a redirect over https is followed', async () => {
  const names: string[] = [];
  const lookup: ResultDownloadDependencies['lookup'] = (name, _, callback) => {
    names.push(name);
    callback(new Error('no such name'), []);
  };
  const server = await serverThat((_, response) =>
    response.writeHead(307, { location: 'https://files.vendor.test/b.png' }).end(),
  );
  expect(await errorOf(download(server.url, { lookup }))).toMatchObject(notFetched);
  // Requested twice, because a name can become available a moment later.
  expect(names).toEqual(['files.vendor.test', 'files.vendor.test']);
});

test.for(['before', 'in'])('ERR-9 the gateway’s deadline %s the file ends it, with its own reason', async (when) => {
  const late = new AbortController();
  const reason = new GatewayError('upstream_timeout', 'too late');
  const server = await serverThat((_, response) => {
    if (when === 'in') response.write(png);
    setTimeout(() => late.abort(reason), 20);
  });
  expect(await errorOf(download(server.url, {}, plain, late.signal))).toBe(reason);
  expect(server.requests).toHaveLength(1);
});

test('ERR-9 after the deadline nothing is requested', async () => {
  const reason = new GatewayError('upstream_timeout', 'too late');
  const server = await serverThat((_, response) => response.end(png));
  expect(await errorOf(download(server.url, {}, plain, AbortSignal.abort(reason)))).toBe(reason);
  expect(server.sockets).toHaveLength(0);
});
