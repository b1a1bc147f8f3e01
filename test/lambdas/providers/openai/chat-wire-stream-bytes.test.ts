import { expect, test } from 'vitest';
import { eventsIn, fixture, inPieces, OUR_MODEL, readAll, toSse, withOurModel } from './stream-reading.ts';

const fixtures = [
  { name: 'chat-stream.sse', model: 'gpt-4o-mini-2024-07-18', choices: 1, held: 4 },
  { name: 'chat-stream-tools.sse', model: 'gpt-4o-2024-08-06', choices: 1, held: 3 },
  { name: 'chat-stream-two-choices.sse', model: 'gpt-4o-2024-08-06', choices: 2, held: 4 },
  { name: 'vllm-continuous-usage.sse', model: 'served-model', choices: 1, held: 3 },
  { name: 'azure-prompt-filter.sse', model: 'gpt-35-turbo-16k', choices: 1, held: 3 },
  { name: 'compatible-spaced.sse', model: 'other-model', choices: 1, held: 2 },
] as const;

/** Events of a fixture that a client sees: everything before the held chunk, with only the model changed. */
const expectedRaw = (name: string, model: string, held: number): string[] =>
  eventsIn(fixture(name))
    .slice(0, held)
    .map((data) => withOurModel(data, data.includes('"model":""') ? '' : model));

for (const { name, model, choices, held } of fixtures) {
  test(`CHAT-11 ${name} passes byte for byte except for the model`, async () => {
    const { raw, end, error } = await readAll(inPieces(fixture(name)), { choices });
    expect(error).toBeUndefined();
    expect(raw).toEqual(expectedRaw(name, model, held));
    const last = JSON.parse(eventsIn(fixture(name))[held] ?? '');
    expect(end?.event).toEqual({ ...last, model: OUR_MODEL });
    expect(end?.reportedUsage).toMatchObject({ prompt_tokens: expect.any(Number) });
  });
}

test('CHAT-11 data over several lines is one event on one line', async () => {
  const events = eventsIn(fixture('chat-stream.sse'));
  const split = (data: string) => data.replace(',"choices"', ',\n"choices"').replaceAll('\n', '\ndata: ');
  const { raw, end } = await readAll(inPieces(toSse(events.map(split))));
  const plain = await readAll(inPieces(toSse(events)));
  expect(raw.filter((data) => data.includes('\n'))).toEqual([]);
  expect(raw.map((data) => JSON.parse(data))).toEqual(plain.raw.map((data) => JSON.parse(data)));
  expect(end).toEqual(plain.end);
});

test('CHAT-11 a model that is already the client’s stays unchanged', async () => {
  const spaced = fixture('compatible-spaced.sse').replaceAll('other-model', OUR_MODEL);
  const { raw } = await readAll(inPieces(spaced));
  expect(raw).toEqual(eventsIn(spaced).slice(0, 2));
});

test('CHAT-11 a member named model inside another member is not replaced', async () => {
  const [role = '', text = '', ...rest] = eventsIn(fixture('chat-stream.sse'));
  const nested = (data: string) => data.replace('{"id"', '{"route":{"model":"inner"},"id"');
  const { raw } = await readAll(inPieces(toSse([nested(role), nested(text), ...rest])));
  expect(raw.slice(0, 2).map((data) => JSON.parse(data))).toMatchObject([
    { route: { model: 'inner' }, model: OUR_MODEL },
    { route: { model: 'inner' }, model: OUR_MODEL },
  ]);
});
