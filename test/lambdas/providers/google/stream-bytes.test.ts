import { expect, test } from 'vitest';
import { nativeReader, neutralReader } from '../../../../lambdas/providers/google/stream.ts';
import { readStream } from '../../../../lambdas/providers/read-stream.ts';
import { eventsIn, fixture, inPieces, readAll, toSse } from './stream-reading.ts';

/** Number of events of a fixture that pass before its end. */
const passing: Readonly<Record<string, number>> = {
  text: 3,
  thinking: 3,
  'function-call': 1,
  'parallel-calls': 2,
  'blocked-prompt': 0,
  safety: 2,
  'usage-alone': 2,
  crlf: 1,
};

for (const [name, passed] of Object.entries(passing)) {
  test(`GEM-1 ${name} passes unchanged, its last events held back for the charge`, async () => {
    const events = eventsIn(fixture(name));
    const { native, end, error } = await readAll(inPieces(fixture(name)), 'generate_content');
    expect([error, native]).toEqual([undefined, events.slice(0, passed)]);
    expect(end?.ending).toEqual({ kind: 'native', events: events.slice(passed) });
  });
}

test('GEM-1 data over several lines is one event on one line', async () => {
  const split = (data: string) => data.replace(',"modelVersion"', ',\n"modelVersion"').replaceAll('\n', '\r\ndata: ');
  const { native, end } = await readAll(inPieces(toSse(eventsIn(fixture('text')).map(split))), 'generate_content');
  expect(native).toHaveLength(3);
  expect(native.every((data) => !/[\r\n]/.test(data) && data.includes(', "modelVersion"'))).toBe(true);
  expect(end?.ending).toMatchObject({ kind: 'native', events: [expect.stringContaining(', "modelVersion"')] });
});

test('GEM-1 the last of two candidates to finish is held back', async () => {
  const events = eventsIn(fixture('two-candidates'));
  const { native, end } = await readAll(inPieces(fixture('two-candidates')), 'generate_content', 2);
  expect(native).toEqual(events.slice(0, 3));
  expect(end?.ending).toEqual({ kind: 'native', events: events.slice(3) });
});

test.for([
  ['generate_content', [1, 2, 3]],
  ['chat_completions', [1, 2, 3, 4]],
] as const)('GEM-1 %s: an event is passed on before the next one is sent', async ([protocol, expected]) => {
  let sent = 0;
  async function* oneByOne() {
    for (const data of eventsIn(fixture('text'))) {
      sent += 1;
      yield Buffer.from(toSse([data]));
    }
  }
  const refusalContext = { retryAfterSeconds: 7, secret: 'x', notice: () => undefined };
  const reader =
    protocol === 'generate_content'
      ? nativeReader(1, { refusalContext, protocol })
      : neutralReader({ refusalContext, protocol });
  const sentAt: number[] = [];
  for await (const event of readStream(oneByOne(), reader)) if (event.kind !== 'end') sentAt.push(sent);
  expect(sentAt).toEqual(expected);
});
