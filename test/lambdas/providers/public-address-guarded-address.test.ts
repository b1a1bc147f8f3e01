import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { expect, test } from 'vitest';
import { createGuardedLookup, publicWeb } from '../../../lambdas/providers/public-address.ts';
import { inner, mixedAnswers } from './hostile-urls.ts';

const publicAddresses = [
  ...['1.0.0.0', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ...['128.0.0.0', '168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0'],
  ...['192.0.1.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255'],
  ...['2001:200::1', '2001:4860:4860::8888', '2003::1', '2606:4700::1111', '2a00:1450:4001::1', '3ffe::1'],
];

test.for(publicAddresses)('CHAT-6 %s is a public address', (address) => {
  expect(publicWeb.address(address)).toBe(true);
});

const noAddresses = [
  ...[
    '',
    ' ',
    'localhost',
    '8.8.8',
    '127.1',
    '0177.0.0.1',
    '010.8.8.8',
    '0x8.8.8.8',
    '134744072',
    '8.8.8.8.',
    ' 8.8.8.8',
  ],
  ...['8.8.8.8/0', '8.8.8.8:80', '[2606:4700::1111]', '2606:4700::1111%eth0', 'fe80::1%lo', '8.8.8.8\n127.0.0.1'],
];

test.for(noAddresses)('CHAT-6 %j is not an allowed address', (text) => {
  expect(publicWeb.address(text)).toBe(false);
});

test.for(inner)('CHAT-6 %s is an internal address', (address) => {
  expect(publicWeb.address(address)).toBe(false);
});

test('CHAT-6 only the ports of web servers are allowed', () => {
  const open = Array.from({ length: 65_536 }, (_, port) => port).filter(publicWeb.port);
  expect(open).toEqual([80, 443, 8080, 8443]);
});

interface Answer {
  readonly error: Error | null;
  readonly address: string | LookupAddress[];
  readonly family: number | undefined;
}

const answerOf = (addresses: readonly string[], all: boolean): Answer => {
  const answers: Answer[] = [];
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup = createGuardedLookup((_, __, callback) => callback(null, found), publicWeb.address);
  lookup('a.example', { all }, (error, address, family) => answers.push({ error, address, family }));
  expect(answers).toHaveLength(1);
  return answers[0]!;
};

test.for([true, false])(
  'CHAT-6 a name with public addresses resolves in the form that Node requests (all: %s)',
  (all) => {
    const answer = answerOf(['2606:4700::1111', '8.8.8.8'], all);
    expect(answer).toEqual(
      all
        ? {
            error: null,
            address: [
              { address: '2606:4700::1111', family: 6 },
              { address: '8.8.8.8', family: 4 },
            ],
          }
        : { error: null, address: '2606:4700::1111', family: 6 },
    );
  },
);

test.for([...inner.map((address) => [[address]]), ...mixedAnswers])(
  'CHAT-6, VID-7 the lookup result %j is rejected as a whole',
  ([addresses]) => {
    for (const all of [true, false]) {
      expect(answerOf(addresses!, all)).toMatchObject({ error: expect.any(Error), address: [] });
    }
  },
);
