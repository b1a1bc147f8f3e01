import type { ModerationModel } from '../catalog/schema.ts';
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

export type ModerationWire = InputWire;
export type ModerationDependencies = InputDependencies;
export type ModerationParams = InputParams<ModerationModel>;

/**
 * MOD-1: moderates inputs. The price may be 0. The catalog entry of a moderation model states no context, so the
 * estimate also bounds plausible counts.
 */
export const moderate = async (
  deps: ModerationDependencies,
  caller: Caller,
  order: ModerationParams,
): Promise<PaidInput> => {
  const nowMs = deps.ledger.clock.now();
  const { modelId, endUser, dryRun } = order;
  const choice = { modelId, protocol: 'moderations', kind: 'moderation', nowMs, allowed: caller.models } as const;
  const model = chooseModel(deps.catalog, choice);
  const request = order.validateFor(model);
  const tokensMax = inputTokensAtMost(request);
  return inputAnswer(deps, caller, model, {
    body: request.body,
    ignored: request.ignored,
    answerBytes: request.answerBytes,
    endUser,
    dryRun,
    tokensAtMost: tokensMax,
    tokensMax,
    rate: deps.catalog.priceRow(model, nowMs).rates.input,
  });
};
