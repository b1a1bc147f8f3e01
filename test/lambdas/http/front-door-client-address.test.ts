import { expect, test } from 'vitest';
import { addressBucket } from '../../../lambdas/http/front-door.ts';

test.for([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:1:2:3:4', '2001:db8:0:0::/64'],
  ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
] as const)('LIM-7 %s is counted as %s', ([address, bucket]) => {
  expect(addressBucket(address)).toBe(bucket);
});

test.for([
  undefined,
  '',
  'localhost',
  '203.0.113.256',
  '203.0.113.7:443',
  '203.0.113.7, 10.0.0.1',
  '::1::',
  'g::1',
  '::ffff:300.0.0.1',
  ' 203.0.113.7',
  'x'.repeat(100_000),
])('LIM-7 %s is not an address and has no bucket', (address) => {
  expect(addressBucket(address)).toBeUndefined();
});
