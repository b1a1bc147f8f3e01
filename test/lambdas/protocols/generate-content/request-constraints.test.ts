import { expect, test } from 'vitest';
import { configured, prepared, refusalOf, shipped, withCapabilities } from './content-requests.ts';

const tools = { tools: [{ functionDeclarations: [{ name: 'weather' }] }] };
const mode = (name: string) => ({ ...tools, toolConfig: { functionCallingConfig: { mode: name } } });

const limited = [
  [configured({ stopSequences: ['x'] }), 'stop', 'generationConfig.stopSequences'],
  [configured({ responseLogprobs: true }), 'logprobs', 'generationConfig.responseLogprobs'],
  [configured({ logprobs: 0 }), 'logprobs', 'generationConfig.logprobs'],
  [configured({ responseMimeType: 'application/json' }), 'jsonObject', 'generationConfig.responseMimeType'],
  [configured({ responseMimeType: 'text/x.enum' }), 'jsonSchema', 'generationConfig.responseMimeType'],
  [configured({ responseSchema: {} }), 'jsonSchema', 'generationConfig.responseSchema'],
  [tools, 'tools', 'tools'],
  [mode('ANY'), 'forcedToolChoice', 'toolConfig.functionCallingConfig.mode'],
] as const;

test.for(limited)('GEN-11 %j is 400 without the capability %s, and passes with it', ([changes, capability, param]) => {
  const error = refusalOf(changes, withCapabilities({ [capability]: false }));
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(error.message).toMatch(/^.*: not supported with "gemini-4-argon".*Others\.$/);
  expect(prepared(changes, withCapabilities({ [capability]: true })).body).toMatchObject(changes);
});

test.for([
  [{ seed: 0 }, 'seed'],
  [{ presencePenalty: 0.1 }, 'penalties'],
  [{ frequencyPenalty: -0.1 }, 'penalties'],
] as const)('GEN-16 %j is listed and not sent without the capability %s', ([config, capability]) => {
  const without = prepared(configured({ ...config, topK: 3 }), withCapabilities({ [capability]: false }));
  expect(without.body.generationConfig).toEqual({ topK: 3 });
  expect(without.ignored).toEqual([`generationConfig.${Object.keys(config)[0]}`]);
  const taken = prepared(configured(config), withCapabilities({ [capability]: true }));
  expect([taken.body.generationConfig, taken.ignored]).toEqual([config, []]);
});

test.for([{ stopSequences: [] }, { presencePenalty: 0 }, { frequencyPenalty: 0 }, { responseLogprobs: false }])(
  'CHAT-16 the default %j is accepted everywhere and sent only where it is supported',
  (config) => {
    const unable = withCapabilities({ stop: false, penalties: false, logprobs: false });
    expect(prepared(configured({ ...config, topK: 3 }), unable).body.generationConfig).toEqual({ topK: 3 });
    const able = withCapabilities({ penalties: true, logprobs: true });
    expect(prepared(configured(config), able).body.generationConfig).toEqual(config);
  },
);

test.for([
  { temperature: 0.2, topP: 0.5, topK: 3 },
  { thinkingConfig: { thinkingBudget: 100, includeThoughts: true } },
  { thinkingConfig: { thinkingLevel: 'XHIGH', thinkingBudget: 5 } },
])('GEM-1 %j reaches the provider, whatever the entry supports', (config) => {
  const plain = { ...withCapabilities({ sampling: false }), reasoning: null };
  expect(prepared(configured(config), plain).body.generationConfig).toEqual(config);
});

test('CHAT-3 more than one candidate is 422 for a model with a single choice', () => {
  const error = refusalOf(configured({ candidateCount: 2 }), shipped());
  const param = 'generationConfig.candidateCount';
  expect(error).toMatchObject({ code: 'unprocessable_entity', status: 422, param });
  expect(error.message).toContain(param);
  expect(prepared(configured({ candidateCount: 1 }), shipped()).choices).toBe(1);
  expect(prepared({}, shipped()).choices).toBe(1);
  expect(prepared(configured({ candidateCount: 3 }), withCapabilities({ multipleChoices: true })).choices).toBe(3);
});

test.for(['AUTO', 'NONE', 'VALIDATED', 'MODE_UNSPECIFIED'])('GEN-11 mode %s forces no tool', (name) => {
  const model = withCapabilities({ forcedToolChoice: false });
  expect(prepared(mode(name), model).usesTools).toBe(true);
});

test('GEN-11 a model without streaming is 400 only for a stream', () => {
  const model = withCapabilities({ streaming: false });
  const error = refusalOf({}, model, true);
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param: 'model' });
  expect(error.message).toMatch(/model: .*:generateContent/);
  expect(prepared({}, model, false).stream).toBe(false);
  expect(prepared({}, shipped(), true).stream).toBe(true);
});
