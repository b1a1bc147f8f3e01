import { expect, test } from 'vitest';
import { forms } from '../../fixtures/sse/forms.ts';
import { allFrames, bytesOf, cutAt } from '../../fixtures/sse/pieces.ts';
import { vendors } from '../../fixtures/sse/vendors.ts';

const pairsOf = function* (length: number): Generator<readonly number[], void> {
  for (let first = 0; first <= length; first += 1) {
    for (let second = first; second <= length; second += 1) yield [first, second];
  }
};

/** All single cuts of a longer stream, each combined with a second one at many positions. */
const someOf = function* (length: number): Generator<readonly number[], void> {
  for (let cut = 0; cut <= length; cut += 1) {
    yield [cut];
    for (let turn = 1; turn <= 15; turn += 1) yield [cut, (cut * 7 + turn * 131) % length];
  }
};

test('CHAT-11 100,000 pairs of cuts leave the events of a stream unchanged', async () => {
  let tried = 0;
  for (const { name, wire } of [...forms, ...vendors]) {
    const bytes = bytesOf(wire);
    const expected = JSON.stringify(await allFrames(cutAt(bytes, [])));
    for (const cuts of bytes.length < 200 ? pairsOf(bytes.length) : someOf(bytes.length)) {
      const frames = JSON.stringify(await allFrames(cutAt(bytes, cuts)));
      if (frames !== expected) expect.fail(`${name} cut at ${cuts.join(' and ')}: ${frames} instead of ${expected}`);
      tried += 1;
    }
  }
  expect(tried).toBeGreaterThan(100_000);
});
