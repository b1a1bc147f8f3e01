import type { InputAnswer, InputWire } from '../../../../lambdas/core/inputs/paid-input.ts';
import type { WireOptions } from '../../../../lambdas/providers/vendor-call.ts';
import { type Answer, playVendor } from '../played-vendor.ts';
import { wireCall } from './wire-call.ts';

/** Source: https://developers.openai.com/api/reference/resources/embeddings, as typed in the package openai 7.55.0. */
export const embeddingList = {
  object: 'list',
  data: [
    { object: 'embedding', index: 0, embedding: [0.0023064255, -0.009327292] },
    { object: 'embedding', index: 1, embedding: [-0.0028842222, 1e-9] },
  ],
  model: 'text-embedding-ada-002-v2',
  usage: { prompt_tokens: 8, total_tokens: 8 },
};

/**
 * Source: https://developers.openai.com/api/reference/resources/moderations, as typed in the package openai 7.55.0;
 * shortened.
 */
export const moderationVerdict = {
  id: 'modr-970d409ef3bef3b70c73d8232df86e7d',
  model: 'omni-moderation-2024-09-26',
  results: [
    {
      flagged: true,
      categories: { violence: true, 'violence/graphic': false },
      category_scores: { violence: 0.8599265510337075, 'violence/graphic': 0.00002 },
      category_applied_input_types: { violence: ['text'], 'violence/graphic': ['text'] },
    },
  ],
};

/** Result of the wire with a provider that sends this response, and the requests that it received. */
export const playInput = async (create: (options: WireOptions) => InputWire, answer: Answer) => {
  const { options, seen } = playVendor('https://vendor.test/v1', answer);
  const { provider, upstream, model } = wireCall();
  const asked = { model: 'alpha-1', input: 'Hi', dimensions: 2 };
  const { signal } = new AbortController();
  const sent = create(options).send({ provider, upstream, modelId: model.id, body: asked, signal });
  const outcome = await sent.then(
    ({ bytes, usage }: InputAnswer) => ({
      answer: { text: Buffer.concat(bytes).toString('utf8'), usage },
      error: undefined,
    }),
    (error: unknown) => ({ answer: undefined, error }),
  );
  return { ...outcome, ...seen };
};
