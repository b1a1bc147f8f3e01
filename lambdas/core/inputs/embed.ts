import type { EmbeddingModel } from '../catalog/schema.ts';
import type { Caller } from '../paid-call/dependencies.ts';
import { chooseModel } from '../paid-call/route-model.ts';
import {
  type InputDependencies,
  type InputParams,
  type InputWire,
  inputAnswer,
  inputTokensAtMost,
  type PaidInput,
} from './paid-input.ts';

export type EmbeddingWire = InputWire;
export type EmbeddingDependencies = InputDependencies;
export type EmbeddingParams = InputParams<EmbeddingModel>;

/** EMB-1: creates embeddings. The model's context limits each input, and therefore also the sum of all inputs. */
export const embed = async (
  deps: EmbeddingDependencies,
  caller: Caller,
  order: EmbeddingParams,
): Promise<PaidInput> => {
  const nowMs = deps.ledger.clock.now();
  const { modelId, endUser, dryRun } = order;
  const choice = { modelId, protocol: 'embeddings', kind: 'embedding', nowMs, allowed: caller.models } as const;
  const model = chooseModel(deps.catalog, choice);
  const request = order.validateFor(model);
  const tokensMax = model.limits.contextTokens * request.inputs;
  return inputAnswer(deps, caller, model, {
    body: request.body,
    ignored: request.ignored,
    answerBytes: request.answerBytes,
    endUser,
    dryRun,
    tokensAtMost: Math.min(inputTokensAtMost(request), tokensMax),
    tokensMax,
    rate: deps.catalog.priceRow(model, nowMs).rates.input,
  });
};
