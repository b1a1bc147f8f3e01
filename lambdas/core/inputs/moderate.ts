import type { ModerationModel } from '../catalog/schema.ts';
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

export type ModerationWire = InputWire;
export type ModerationPorts = InputPorts;
export type ModerationParams = InputParams<ModerationModel>;

/** MOD-1. A price of 0 is a price. An entry states no context here, so the estimate is also what can be true at most. */
export const moderate = async (ports: ModerationPorts, caller: Caller, order: ModerationParams): Promise<PaidInput> => {
  const nowMs = ports.ledger.clock.now();
  const { modelId, endUser, dryRun } = order;
  const model = chooseModel(ports.catalog, { modelId, protocol: 'moderations', kind: 'moderation', nowMs });
  const request = order.validateFor(model);
  const tokensMax = inputTokensAtMost(request);
  return inputAnswer(ports, caller, model, {
    body: request.body,
    ignored: request.ignored,
    endUser,
    dryRun,
    tokensAtMost: tokensMax,
    tokensMax,
    rate: ports.catalog.priceRow(model, nowMs).rates.input,
  });
};
