import type { EmbeddingModel } from '../catalog/schema.ts';
import type { Caller } from '../paid-call/dependencies.ts';
import { chooseModel } from '../paid-call/route-model.ts';
import {
  type InputParams,
  type InputPorts,
  type InputWire,
  inputAnswer,
  inputTokensAtMost,
  type PaidInput,
} from './paid-input.ts';

export type EmbeddingWire = InputWire;
export type EmbeddingPorts = InputPorts;
export type EmbeddingParams = InputParams<EmbeddingModel>;

/** EMB-1. No input is longer than the model's context, so that all of them together have a bound. */
export const embed = async (ports: EmbeddingPorts, caller: Caller, order: EmbeddingParams): Promise<PaidInput> => {
  const nowMs = ports.ledger.clock.now();
  const { modelId, endUser, dryRun } = order;
  const model = chooseModel(ports.catalog, { modelId, protocol: 'embeddings', kind: 'embedding', nowMs });
  const request = order.validateFor(model);
  const tokensMax = model.limits.contextTokens * request.inputs;
  return inputAnswer(ports, caller, model, {
    body: request.body,
    ignored: request.ignored,
    endUser,
    dryRun,
    tokensAtMost: Math.min(inputTokensAtMost(request), tokensMax),
    tokensMax,
    rate: ports.catalog.priceRow(model, nowMs).rates.input,
  });
};
