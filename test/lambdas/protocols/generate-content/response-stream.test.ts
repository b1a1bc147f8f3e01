import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { toErrorBody } from '../../../../lambdas/http/render-error.ts';
import { arrayStream, eventStream, generateContent } from '../../../../lambdas/protocols/generate-content/response.ts';
import type { StreamRenderer } from '../../../../lambdas/protocols/text-adapter.ts';

const said = (text: string, more: object = {}) =>
  JSON.stringify({ candidates: [{ content: { parts: [{ text }], role: 'model' }, ...more }] });
const first = said('Hel');
const second = said('lo');
const last = said('.', { finishReason: 'STOP' });

const receipt = { costPicos: 1n, usage: undefined, balancePicos: undefined };
const broken = new GatewayError('upstream_error', 'It broke. Nothing was charged.', { param: 'p' });
const brokenElement = toErrorBody(broken, 'generate_content', 'r');

type Create = typeof eventStream;

const written = (create: Create, play: (adapter: StreamRenderer) => void): string => {
  let text = '';
  play(
    create({
      requestId: 'r',
      write: (more) => {
        text += more;
      },
    }),
  );
  return text;
};

const good = (adapter: StreamRenderer): void => {
  adapter.native([first, second]);
  adapter.finish({ kind: 'native', events: [last, '{"usageMetadata":{}}'] }, receipt);
};

const failing = (adapter: StreamRenderer): void => {
  adapter.native([first]);
  adapter.native([second]);
  adapter.fail(broken);
};

test('GEM-2 with alt=sse every element is an event, and nothing marks the end', () => {
  expect(written(eventStream, good)).toBe(
    `data: ${first}\n\ndata: ${second}\n\ndata: ${last}\n\ndata: {"usageMetadata":{}}\n\n`,
  );
});

test('GEM-2 without alt the elements form one JSON array, which a successful end closes', () => {
  const text = written(arrayStream, good);
  expect(text).toBe(`[${first}\n,\r\n${second}\n,\r\n${last}\n,\r\n{"usageMetadata":{}}\n]`);
  expect(JSON.parse(text)).toHaveLength(4);
});

test('GEM-2 an array of only the last elements, and an empty one, are also closed', () => {
  const only = written(arrayStream, (adapter) => adapter.finish({ kind: 'native', events: [last] }, receipt));
  expect(JSON.parse(only)).toEqual([JSON.parse(last)]);
  const none = written(arrayStream, (adapter) => adapter.finish({ kind: 'native', events: [] }, receipt));
  expect(none).toBe('[]');
});

test('GEN-3 an error after content is an event with the body of an HTTP error', () => {
  const [, , error, ...more] = written(eventStream, failing).split('\n\n');
  expect(JSON.parse(error?.replace(/^data: /, '') ?? '')).toEqual(brokenElement);
  expect(more).toEqual(['']);
});

test('GEN-3 an error is the last element of an array that is never closed', () => {
  const text = written(arrayStream, failing);
  expect(text).toBe(`[${first}\n,\r\n${second}\n,\r\n${JSON.stringify(brokenElement)}\n`);
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  expect(JSON.parse(`${text}]`).at(-1)).toEqual(brokenElement);
  const alone = written(arrayStream, (adapter) => adapter.fail(broken));
  expect(alone).toBe(`[${JSON.stringify(brokenElement)}\n`);
});

test.for([
  ['events', eventStream],
  ['an array', arrayStream],
] as const)('GEM-2 a result of another protocol never becomes %s', ([, create]) => {
  const adapter = create({ requestId: 'r', write: () => undefined });
  expect(() => adapter.neutral([])).toThrow(/another protocol/);
  expect(() => adapter.finish({ kind: 'neutral', finishReason: 'stop' }, receipt)).toThrow(/another protocol/);
});

test('GEM-1 a complete result of another protocol is a programming error', () => {
  const neutral = { text: 'a', refusal: null, toolCalls: [], finishReason: 'stop' } as const;
  const answer = { kind: 'answer', content: { kind: 'neutral', answer: neutral }, usage: undefined } as const;
  expect(() => generateContent.toBody(answer, { modelId: 'm', requestId: 'r', nowMs: 0 })).toThrow(/another protocol/);
});
