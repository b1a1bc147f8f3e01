import { expect, test } from 'vitest';
import type { TextModel } from '../../../../lambdas/core/catalog/schema.ts';
import { bodyOf, entryOf, hello, prepared, refusalOf } from './messages-requests.ts';

const adaptive = { type: 'adaptive' };
const enabled = { type: 'enabled', budget_tokens: 1_024 };
const disabled = { type: 'disabled' };
const max_tokens = 4_000;

/** Each kind of catalog entry with the thinking types that it accepts. */
const kinds = [
  ['claude-fable-5-2', [adaptive], [enabled, disabled]],
  ['claude-haiku-5-5', [adaptive, disabled], [enabled]],
  ['claude-opus-4-8', [adaptive, disabled], [enabled]],
  ['claude-haiku-4-5', [enabled, disabled], [adaptive]],
] as const;

test.for(kinds)('MSG-2 %s accepts %j and rejects %j', ([model, taken, refused]) => {
  for (const thinking of taken) {
    expect(prepared({ model, max_tokens, thinking }).body.thinking).toEqual(thinking);
  }
  for (const thinking of refused) {
    const error = refusalOf({ model, max_tokens, thinking });
    expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param: 'thinking.type' });
    for (const { type } of taken) expect(error.message).toContain(`"${type}"`);
  }
});

test('MSG-2 the error for a budget names the effort field and a model with budgets', () => {
  const { message } = refusalOf({ model: 'claude-fable-5-2', max_tokens, thinking: enabled });
  expect(message).toContain('output_config.effort');
  expect(message).toContain('claude-haiku-4-5');
  const other = refusalOf({ model: 'claude-haiku-4-5', max_tokens, thinking: adaptive });
  expect(other.message).not.toContain('output_config.effort');
});

/** Catalog entry with other thinking abilities. */
const able = (thinking: TextModel['thinking']): TextModel => ({ ...entryOf('claude-haiku-4-5'), thinking });

test('MSG-2 a model without thinking accepts only that it is disabled', () => {
  const model = able(undefined);
  expect(prepared({ thinking: disabled }, model).body.thinking).toEqual(disabled);
  for (const thinking of [adaptive, enabled]) {
    expect(refusalOf({ max_tokens, thinking }, model)).toMatchObject({ status: 400, param: 'thinking.type' });
  }
});

test('MSG-3 thinking that the name turns on takes the place of sampling fields', () => {
  const sampling = { temperature: 0.2, top_p: 0.5, top_k: 5 };
  const { body, ignored } = prepared({ model: 'claude-haiku-4-5-thinking', max_tokens, ...sampling });
  expect(body).toEqual({ ...bodyOf({ model: 'claude-haiku-4-5-thinking', max_tokens }), thinking: expect.anything() });
  expect(ignored).toEqual(['temperature', 'top_k', 'top_p']);
  expect(prepared({ model: 'claude-haiku-4-5', max_tokens, ...sampling }).body).toMatchObject(sampling);
});

const summarized = { type: 'adaptive', display: 'summarized' };

test.for(['claude-fable-5-2', 'claude-opus-5-5', 'claude-haiku-5-5', 'claude-opus-4-8'])(
  'MSG-3 %s-thinking uses the model’s kind of thinking, and the plain name does not',
  (model) => {
    expect(prepared({ model: `${model}-thinking` }).body.thinking).toEqual(summarized);
    expect(prepared({ model }).body).not.toHaveProperty('thinking');
  },
);

test.for([
  [1_025, 1_024],
  [2_050, 1_025],
  [64_000, 32_000],
] as const)('MSG-3 a model that needs a budget gets one below a cap of %d: %d', ([cap, budget]) => {
  const { body, outputTokensMax } = prepared({ model: 'claude-haiku-4-5-thinking', max_tokens: cap });
  expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: budget });
  expect([body.max_tokens, outputTokensMax]).toEqual([cap, cap]);
});

test('MSG-3 a cap without room for thinking gets the smallest budget, and a cap of 0 is rejected', () => {
  const model = 'claude-haiku-4-5-thinking';
  for (const cap of [1, 1_024]) expect(prepared({ model, max_tokens: cap }).body.thinking).toEqual(enabled);
  expect(refusalOf({ model, max_tokens: 0 })).toMatchObject({ status: 400, param: 'max_tokens' });
});

test.for([
  ['claude-fable-5-2-thinking', { type: 'adaptive', display: 'omitted' }],
  ['claude-haiku-5-5-thinking', disabled],
  ['claude-haiku-4-5-thinking', { type: 'enabled', budget_tokens: 3_000 }],
  ['claude-haiku-4-5-thinking', disabled],
] as const)('MSG-3 with %s the client’s own %j takes precedence', ([model, thinking]) => {
  expect(prepared({ model, max_tokens, thinking }).body.thinking).toEqual(thinking);
});

test('MSG-3 the name turns nothing on beside a tool choice that requires a call', () => {
  const tools = [{ name: 'look', input_schema: { type: 'object' } }];
  for (const [tool_choice, thinks] of [
    [{ type: 'any' }, false],
    [{ type: 'tool', name: 'look' }, false],
    [{ type: 'auto' }, true],
  ] as const) {
    const { body } = prepared({ model: 'claude-haiku-4-5-thinking', max_tokens, tools, tool_choice });
    expect('thinking' in body).toBe(thinks);
  }
});

test('MSG-3 an alias with -thinking turns nothing on if the entry has no suffix', () => {
  const model = { ...entryOf('claude-sonnet-5'), thinking: { adaptive: true, manualBudget: false, canDisable: true } };
  expect(prepared({ model: 'claude-sonnet-5-thinking' }, model).body).not.toHaveProperty('thinking');
});

const efforts = ['low', 'medium', 'high', 'xhigh', 'max'];

test.for(efforts)('MSG-4 effort %s is sent unchanged on every model that has the field', (effort) => {
  for (const model of ['claude-fable-5-2', 'claude-opus-5-5', 'claude-haiku-5-5']) {
    const request = prepared({ model, output_config: { effort } });
    expect(request.body).toEqual(bodyOf({ model, output_config: { effort } }));
    expect(request.effort).toBe(effort);
  }
});

test.for([
  ['claude-opus-5-5', undefined, { effort: 'high' }],
  ['claude-haiku-5-5', { effort: null }, { effort: 'high' }],
  ['claude-haiku-5-5-thinking', undefined, { effort: 'high' }],
  [
    'claude-opus-5-5',
    { format: { type: 'json_schema', schema: {} } },
    { format: { type: 'json_schema', schema: {} }, effort: 'high' },
  ],
  ['claude-fable-5-2', undefined, undefined],
  ['claude-sonnet-5', { effort: null }, undefined],
  ['claude-haiku-4-5', undefined, undefined],
] as const)('MSG-4 on %s an output_config of %j is sent as %j', ([model, output_config, sent]) => {
  expect(prepared({ model, output_config }).body.output_config).toEqual(sent);
});

test.for([{ type: 'adaptive', effort: 'high' }, { effort: 'high' }])(
  'MSG-4 an effort inside thinking, %j, is 400 and names its place',
  (thinking) => {
    const error = refusalOf({ model: 'claude-fable-5-2', thinking });
    expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param: 'thinking.effort' });
    expect(error.message).toContain('output_config.effort');
  },
);

test('BILL-6 only thinking and the effort of the client’s body change', () => {
  const fields = {
    model: 'claude-haiku-5-5-thinking',
    max_tokens: 77,
    messages: [hello],
    temperature: 1,
    metadata: { user_id: 'u' },
    stream: true,
  };
  const added = { thinking: summarized, output_config: { effort: 'high' } };
  const { temperature: _, ...rest } = fields;
  expect(prepared(fields).body).toEqual({ ...rest, ...added });
});
