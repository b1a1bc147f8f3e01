import { get } from 'node:http';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { installLambdaRuntime } from '../../lambdas/host/lambda-runtime.ts';
import { startHost } from '../../lambdas/host/server.ts';
import { createClientIp, isSharedPeer, parseTrustedProxies } from '../../local/trusted-proxies.ts';
import { answerWith } from '../lambdas/host/started-host.ts';
import { randomRuns } from '../support/random-runs.ts';

const requestFrom = (remoteAddress: string | undefined, lines: readonly string[]) => ({
  socket: { remoteAddress },
  headersDistinct: lines.length > 0 ? { 'x-forwarded-for': [...lines] } : {},
});

const TRUSTED = '127.0.0.1,10.0.0.0/8,2001:db8:1::/48';

test.each([
  ['an untrusted peer', '203.0.113.9', ['198.51.100.1'], '203.0.113.9'],
  ['an untrusted peer of a trusted name', '203.0.113.9', ['127.0.0.1'], '203.0.113.9'],
  ['a proxy without the header', '127.0.0.1', [], '127.0.0.1'],
  ['one proxy', '127.0.0.1', ['198.51.100.1'], '198.51.100.1'],
  ['an entry written by the client', '127.0.0.1', ['192.0.2.1, 198.51.100.1'], '198.51.100.1'],
  ['a trusted address written by the client', '127.0.0.1', ['10.0.0.1, 198.51.100.1'], '198.51.100.1'],
  ['text written by the client', '127.0.0.1', ['anything, 198.51.100.1'], '198.51.100.1'],
  ['a chain of proxies', '127.0.0.1', ['192.0.2.1, 198.51.100.1, 10.2.3.4, 10.9.9.9'], '198.51.100.1'],
  ['several header lines', '127.0.0.1', ['192.0.2.1', '198.51.100.1,10.0.0.1', '10.0.0.2'], '198.51.100.1'],
  ['proxies alone', '127.0.0.1', ['10.0.0.3, 10.0.0.2', '10.0.0.1'], '10.0.0.3'],
  ['an IPv6 client', '127.0.0.1', ['2001:0DB8:2:0::1'], '2001:db8:2::1'],
  ['an IPv6 proxy', '2001:db8:1::7', ['198.51.100.1'], '198.51.100.1'],
  ['a mapped proxy', '::ffff:127.0.0.1', ['198.51.100.1'], '198.51.100.1'],
  ['a mapped client', '127.0.0.1', ['::ffff:198.51.100.1'], '198.51.100.1'],
  ['a mapped peer', '::ffff:203.0.113.9', ['198.51.100.1'], '203.0.113.9'],
  ['a client with a port', '127.0.0.1', ['198.51.100.1:50000'], '198.51.100.1'],
  ['an IPv6 client with a port', '127.0.0.1', ['[2001:db8:2::1]:443'], '2001:db8:2::1'],
  ['an IPv6 client in brackets', '127.0.0.1', ['[2001:db8:2::1]'], '2001:db8:2::1'],
  ['a chain of proxies with ports', '127.0.0.1', ['192.0.2.1, 198.51.100.1:1, 10.2.3.4:2'], '198.51.100.1'],
  ['a link-local peer', 'fe80::1%eth0', ['198.51.100.1'], 'fe80::1'],
  ['no peer', undefined, ['198.51.100.1'], ''],
])('LIM-7 the client IP is correct with %s', (_title, peer, lines, expected) => {
  expect(createClientIp(parseTrustedProxies(TRUSTED))(requestFrom(peer, lines))).toBe(expected);
});

test.each([
  '',
  ' ',
  'unknown',
  '198.51.100.1:',
  '198.51.100.1:1:2',
  '[198.51.100.1:80',
  '2001:db8::1]:443',
  '0177.0.0.1',
  '10.1',
  'fe80::1%1',
])('LIM-7 the entry %j counts as the peer', (entry) => {
  const clientIp = createClientIp(parseTrustedProxies(TRUSTED));
  expect(clientIp(requestFrom('127.0.0.1', [entry]))).toBe('127.0.0.1');
  expect(clientIp(requestFrom('127.0.0.1', [`198.51.100.1,${entry},10.0.0.1`]))).toBe('127.0.0.1');
});

test.each([
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['10.2.3.4', true],
  ['::ffff:10.2.3.4', true],
  ['2001:db8:1::7', true],
  ['2001:db8:2::7', false],
  ['203.0.113.9', false],
  ['192.168.1.7', false],
  ['fe80::1%eth0', false],
  ['', false],
] as const)('LIM-9 the peer %s has no limit of connections: %s', (peer, isShared) => {
  expect(isSharedPeer(parseTrustedProxies(TRUSTED))(peer)).toBe(isShared);
});

test('LIM-7 without trusted proxies the peer is the client', () => {
  expect(createClientIp([])(requestFrom('127.0.0.1', ['198.51.100.1']))).toBe('127.0.0.1');
});

test.each([
  ['*', '"*" is not an IP address or CIDR range. Use IP addresses and CIDR ranges, such as 127.0.0.1,10.0.0.0/8.'],
  ['true', '"true" is not an IP address'],
  ['10.0.0.1,proxy.internal', '"proxy.internal" is not an IP address'],
  ['10.0.0.1,,10.0.0.2', 'has an empty item. Use IP addresses'],
  ['10.0.0.1,', 'has an empty item'],
  [' ', 'has an empty item'],
  ['10.0.0.1/8/8', '"10.0.0.1/8/8" is not an IP address'],
  ['0177.0.0.1', '"0177.0.0.1" is not an IP address'],
  ['10.1', '"10.1" is not an IP address'],
  ['127.0.0.1:80', '"127.0.0.1:80" is not an IP address'],
  ['fe80::1%eth0', '"fe80::1%eth0" is not an IP address'],
  ['10.0.0.0/33', '"10.0.0.0/33" has a bad prefix length. Use 1 to 32.'],
  ['10.0.0.0/', '"10.0.0.0/" has a bad prefix length'],
  ['10.0.0.0/-8', '"10.0.0.0/-8" has a bad prefix length'],
  ['2001:db8::/129', '"2001:db8::/129" has a bad prefix length. Use 1 to 128.'],
  ['0.0.0.0/0', '"0.0.0.0/0" trusts every address. List the addresses of your proxies.'],
  ['::/0', '"::/0" trusts every address'],
  ['10.1.2.3/8', '"10.1.2.3/8" is not the start of its range. Use 10.0.0.0/8.'],
  ['2001:db8::1/32', '"2001:db8::1/32" is not the start of its range. Use 2001:db8::/32.'],
  ['::ffff:10.0.0.1', '"::ffff:10.0.0.1" is an IPv4 address in IPv6 form. Use the IPv4 form.'],
  ['::ffff:0a00:1/128', '"::ffff:0a00:1/128" is an IPv4 address in IPv6 form'],
])('LIM-7 TRUST_PROXY=%s is rejected', (text, message) => {
  expect(() => parseTrustedProxies(text)).toThrow(message);
});

const byte = fc.nat(255);
const untrusted = fc.oneof(
  fc.tuple(fc.integer({ min: 11, max: 126 }), byte, byte, byte).map((bytes) => bytes.join('.')),
  fc.tuple(byte, byte).map(([one, other]) => `2001:db8:2::${(256 + one).toString(16)}:${(256 + other).toString(16)}`),
);
const trusted = fc.oneof(
  fc.constantFrom('127.0.0.1', '::ffff:127.0.0.1', '2001:db8:1::5'),
  fc.tuple(byte, byte, byte).map((bytes) => `10.${bytes.join('.')}`),
);
/** Header entries that a client can forge. */
const forged = fc.oneof(trusted, untrusted, fc.stringMatching(/^[ -~]{0,30}$/), fc.constantFrom('', ',', '::1, '));

test('LIM-7 a client behind trusted proxies cannot choose its IP address with prepended entries', () => {
  const clientIp = createClientIp(parseTrustedProxies(TRUSTED));
  const history = fc.record({
    client: untrusted,
    prepended: fc.array(forged, { maxLength: 5 }),
    proxies: fc.array(trusted, { minLength: 1, maxLength: 4 }),
    /** Whether each proxy adds a header line. Otherwise it extends the last line. */
    addsLine: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
  });
  fc.assert(
    fc.property(history, ({ client, prepended, proxies, addsLine }) => {
      expect(clientIp(requestFrom(client, prepended))).toBe(client);
      const lines = [...prepended];
      // Each hop appends the address of its own peer.
      [client, ...proxies.slice(0, -1)].forEach((peer, hop) => {
        const last = lines.pop();
        if (last === undefined) lines.push(peer);
        else if (addsLine[hop]) lines.push(last, peer);
        else lines.push(`${last}, ${peer}`);
      });
      expect(clientIp(requestFrom(proxies.at(-1), lines))).toBe(client);
    }),
    randomRuns(import.meta.filename, { quick: 300, long: 20_000 }),
  );
});

test('LIM-7 the last of several header lines decides the client IP', async () => {
  installLambdaRuntime();
  const seen: string[] = [];
  const host = await startHost({
    handlers: {
      catalog: async (event, stream) => {
        seen.push(event.requestContext.http.sourceIp);
        await answerWith(stream, 200, 'ok');
      },
    },
    ...{ port: 0, address: '127.0.0.1', now: () => 0, newRequestId: () => 'id', onCrash: () => undefined },
    sourceIp: createClientIp(parseTrustedProxies('127.0.0.1')),
  });
  try {
    const headers = ['host', 'localhost', 'x-forwarded-for', '192.0.2.1', 'X-Forwarded-For', '198.51.100.1'];
    await new Promise((resolve, reject) => {
      get({ port: host.port, path: '/health', headers }, (response) => response.resume().once('end', resolve)).once(
        'error',
        reject,
      );
    });
  } finally {
    await host.stop(0);
  }
  expect(seen).toEqual(['198.51.100.1']);
});
