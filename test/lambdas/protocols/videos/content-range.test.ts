import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRange } from '../../../../lambdas/protocols/videos/content.ts';
import { randomRuns } from '../../../support/random-runs.ts';

const etag = '"abc"';
const of = (range: string | undefined, bytes = 10, ifRange?: string) =>
  readRange({ range, 'if-range': ifRange }, { bytes, etag });

test.for([
  ['bytes=0-0', { first: 0, last: 0 }],
  ['bytes=2-5', { first: 2, last: 5 }],
  ['bytes=2-', { first: 2, last: 9 }],
  ['bytes=9-', { first: 9, last: 9 }],
  ['bytes=2-100', { first: 2, last: 9 }],
  ['bytes=-3', { first: 7, last: 9 }],
  ['bytes=-100', { first: 0, last: 9 }],
  ['BYTES=1-2', { first: 1, last: 2 }],
  ['bytes=0-99999999999999999999999999', { first: 0, last: 9 }],
] as const)('VID-4 %s is %j', ([range, expected]) => {
  expect(of(range)).toEqual(expected);
});

test.for(['bytes=10-', 'bytes=10-11', 'bytes=-0', 'bytes=99999999999999999999999999-'])(
  'VID-4 %s cannot be satisfied',
  (range) => {
    expect(of(range)).toBe('unsatisfiable');
  },
);

test.for([
  undefined,
  '',
  'bytes=',
  'bytes=-',
  'bytes=5-2',
  'bytes=a-b',
  'bytes=1-2,4-5',
  'lines=1-2',
  'bytes 1-2',
  'bytes=1.5-2',
  '1-2',
])('VID-4 %s requests the whole file', (range) => {
  expect(of(range)).toBeUndefined();
});

test('VID-4 If-Range with another file requests the whole file, even for an invalid range', () => {
  expect(of('bytes=1-2', 10, etag)).toEqual({ first: 1, last: 2 });
  for (const other of ['"abd"', 'abc', `W/${etag}`, 'Wed, 21 Oct 2026 07:28:00 GMT', '']) {
    expect(of('bytes=1-2', 10, other)).toBeUndefined();
    expect(of('bytes=99-', 10, other)).toBeUndefined();
  }
});

test('VID-4 any single range has the bytes of a Buffer slice', () => {
  const numbers = fc.nat({ max: 40 });
  const property = fc.property(fc.integer({ min: 1, max: 30 }), numbers, numbers, (size, from, to) => {
    const file = Buffer.from(Array.from({ length: size }, (_, at) => at));
    const taken = (range: string): Buffer | undefined => {
      const found = of(range, size);
      if (found === 'unsatisfiable') return Buffer.alloc(0);
      return found && file.subarray(found.first, found.last + 1);
    };
    expect(taken(`bytes=${from}-`)).toEqual(file.subarray(from));
    expect(taken(`bytes=-${to}`)).toEqual(to === 0 ? Buffer.alloc(0) : file.subarray(-to));
    expect(taken(`bytes=${from}-${to}`)).toEqual(to < from ? undefined : file.subarray(from, to + 1));
  });
  fc.assert(property, randomRuns(import.meta.filename, { quick: 300, long: 2_000 }));
});
