import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../lambdas/core/json.ts';
import { responsesAnswer } from '../../../fixtures/openai/responses-answer.ts';
import { frameOf, lastOf, readResponses } from './responses-reading.ts';
import { answerIn, chatCall, play } from './responses-wire-world.ts';
import { inPieces } from './stream-reading.ts';

const said = (text: string, phase?: string): JsonObject => ({
  type: 'message',
  id: `msg_${text}`,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...(phase !== undefined && { phase }),
});
const commentary = (text: string) => said(text, 'commentary');
const final = (text: string) => said(text, 'final_answer');
const call: JsonObject = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{}' };
const reasoning: JsonObject = { type: 'reasoning', id: 'rs_1', summary: [] };

/** Events of an output, each text in two pieces. */
const framesOf = (output: readonly JsonObject[]): string =>
  output
    .flatMap((item, output_index) => {
      const [{ text = '' } = {}] = Array.isArray(item.content) ? (item.content as { text?: string }[]) : [];
      const begun = { ...item, ...(item.type === 'message' && { content: [] }) };
      const deltas = text === '' ? [] : [text.slice(0, 1), text.slice(1)];
      return [
        { type: 'response.output_item.added', output_index, item: begun },
        ...deltas.map((delta) => ({ type: 'response.output_text.delta', output_index, delta })),
        { type: 'response.output_item.done', output_index, item },
      ];
    })
    .map(frameOf)
    .join('');

const outputs: readonly (readonly [string, readonly JsonObject[], string | null])[] = [
  ['commentary and the final answer', [reasoning, commentary('Riga.'), final('Riga.')], 'Riga.'],
  ['reasoning between both', [commentary('I look.'), reasoning, final('Riga.')], 'Riga.'],
  ['several of each', [commentary('a'), commentary('b'), final('c'), final('d')], 'c\n\nd'],
  ['commentary and a call', [commentary('I look.'), call], 'I look.'],
  ['commentary around a call', [commentary('I look.'), call, commentary('And wait.')], 'I look.\n\nAnd wait.'],
  ['commentary alone', [reasoning, commentary('I look.')], 'I look.'],
  ['an empty final answer', [commentary('I look.'), final('')], 'I look.'],
  ['commentary after the final answer', [final('Riga.'), commentary('Done.')], 'Riga.'],
  ['messages without a phase', [said('a'), said(''), said('b')], 'a\n\nb'],
  ['commentary and a message without a phase', [commentary('a'), said('b')], 'a\n\nb'],
  ['a call alone', [reasoning, call], null],
];

test.each(outputs)('CHAT-5 the content of %s is its answer, plain and streamed', async (_, output, expected) => {
  const body = JSON.stringify({ ...responsesAnswer, output });
  const { content } = answerIn((await play(chatCall(), { body })).sent);
  expect(content).toMatchObject({ kind: 'neutral', answer: { text: expected } });
  const { deltas, error } = await readResponses('neutral', inPieces(framesOf(output) + lastOf({ output })));
  expect(error).toBeUndefined();
  expect(deltas.flatMap((delta) => (delta.kind === 'text' ? delta.text : [])).join('')).toBe(expected ?? '');
});

test('CHAT-5 commentary of a stream is sent before the call that follows it', async () => {
  const output = [commentary('I look.'), call];
  const { deltas } = await readResponses('neutral', inPieces(framesOf(output) + lastOf({ output })));
  expect(deltas.map(({ kind }) => kind)).toEqual(['text', 'tool_call', 'tool_arguments']);
});

test('CHAT-14 a stream that the filter stops after commentary alone is an error', async () => {
  const last = lastOf(
    { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
    'response.incomplete',
  );
  const { deltas, error } = await readResponses('neutral', inPieces(framesOf([commentary('I look.')]) + last));
  expect([deltas, error?.code]).toEqual([[], 'content_filter']);
});
