import { isAllowedFallback } from '../catalog/fallbacks.ts';
import type { Wire } from '../catalog/providers.ts';
import type { Provider, TextModel, TextPriceRow, Upstream } from '../catalog/schema.ts';
import type { CallRejection, CircuitId } from '../circuit/circuit.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Caller, PaidCallDependencies } from '../paid-call/dependencies.ts';
import {
  type AllowedModels,
  chooseModel,
  chooseUpstream,
  refuseOtherModels,
  rejectionError,
  unavailable,
} from '../paid-call/route-model.ts';
import type { TextParams, TextRequest } from './conversation.ts';
import type { PreparedCall, TextWire } from './text-wire.ts';
import { promptTokensAtLeast, promptTokensAtMost } from './token-estimate.ts';

/** Model to call, and the fallback model for the case that its circuit rejects the call. */
interface Candidates {
  readonly asked: TextModel;
  readonly first: CheckedText;
  /** Checks the request against the fallback model; undefined without one. */
  readonly second: (() => CheckedText) | undefined;
}

/** FALL-1 to FALL-5. Chooses only the requested model or the named fallback model. */
export const chooseCandidates = (
  deps: TextDependencies,
  { accountId, models: allowed }: Caller,
  order: TextParams,
): Candidates => {
  const nowMs = deps.ledger.clock.now();
  const { protocol, modelId } = order;
  const model = chooseModel(deps.catalog, { modelId, protocol, kind: 'text', nowMs, allowed });
  const request = checkRequest(order, model);
  const fallback = chooseFallback(deps, order, model, { nowMs, allowed });
  const primary = reachable(deps, checkText(deps, order, model, request, nowMs));
  const check = (other: TextModel): CheckedText =>
    reachable(deps, checkText(deps, order, other, checkRequest(order, other), nowMs));
  const rejection = deps.circuits.peek(primary.circuit, accountId);
  if (!rejection) return { asked: model, first: primary, second: fallback && (() => check(fallback)) };
  if (rejection.kind !== 'open' || !fallback) throw rejectionError(primary.model, rejection);
  const first = check(fallback);
  const alsoBarred = deps.circuits.peek(first.circuit, accountId);
  if (alsoBarred) throw rejectionError(primary.model, sooner(rejection, alsoBarred));
  return { asked: model, first, second: undefined };
};

const reachable = (deps: TextDependencies, checked: CheckedText): CheckedText => {
  if (!deps.reachable(checked.provider)) throw unavailable(checked.model);
  return checked;
};

/** Returns the earlier retry of the two models, because the client may use either. */
const sooner = (rejection: CallRejection & { readonly kind: 'open' }, other: CallRejection): CallRejection =>
  other.kind === 'open' && other.retryAfterSeconds < rejection.retryAfterSeconds ? other : rejection;

/** FALL-4: rejects an invalid fallback model even if it is not needed. */
const chooseFallback = (
  { catalog }: TextDependencies,
  { fallbackModelId, protocol }: TextParams,
  primary: TextModel,
  { nowMs, allowed }: { readonly nowMs: number; readonly allowed: AllowedModels },
): TextModel | undefined => {
  if (fallbackModelId === undefined) return undefined;
  const fallback = catalog.find(fallbackModelId, nowMs);
  if (fallback) refuseOtherModels(fallback, allowed, 'x-service-fallback-model');
  if (
    fallback?.kind === 'text' &&
    fallback.protocols.some((name) => name === protocol) &&
    isAllowedFallback(catalog, primary, fallback, nowMs)
  ) {
    return fallback;
  }
  throw new GatewayError(
    'invalid_fallback_model',
    `x-service-fallback-model: not an allowed fallback for "${primary.id}". See GET /api/models/${primary.id}/fallbacks.`,
    { param: 'x-service-fallback-model' },
  );
};

/** A request that is valid for one model, with its price: everything that is known before the hold. */
export interface CheckedText {
  readonly model: TextModel;
  readonly provider: Provider;
  readonly upstream: Upstream;
  readonly circuit: CircuitId;
  readonly request: TextRequest;
  readonly call: PreparedCall;
  readonly row: TextPriceRow;
  /** Upper bound of the tokens in this prompt: an estimate, from which the hold is computed. */
  readonly promptTokens: number;
}

/** Throws the 400 or 422 that names the field. */
const checkRequest = (order: TextParams, model: TextModel): TextRequest => {
  const request = order.validateFor(model);
  refuseWhatCannotFit(order, model, request);
  return request;
};

/**
 * Throws the error for a request that the provider's protocol cannot carry, and 503 if no upstream is available. Sends
 * nothing.
 */
const checkText = (
  deps: TextDependencies,
  order: TextParams,
  model: TextModel,
  request: TextRequest,
  nowMs: number,
): CheckedText => {
  const { upstream, provider, wire } = chooseUpstream(deps, model, request);
  return {
    model,
    provider,
    upstream,
    circuit: { providerId: provider.id, modelId: model.id },
    request,
    call: wire.buildCall({ protocol: order.protocol, request, model, upstream, provider }),
    row: deps.catalog.priceRow(model, nowMs),
    promptTokens: promptTokensAtMost(model, request),
  };
};

const refuseWhatCannotFit = ({ params }: TextParams, model: TextModel, request: TextRequest): void => {
  const atLeast = promptTokensAtLeast(request.prompt);
  if (atLeast <= model.limits.contextTokens) return;
  throw new GatewayError(
    'context_length_exceeded',
    `${params.prompt}: at least ${atLeast} tokens, but the context of "${model.id}" is ${model.limits.contextTokens}. Shorten it.`,
    { param: params.prompt },
  );
};

export interface TextDependencies extends PaidCallDependencies {
  readonly wires: ReadonlyMap<Wire, TextWire>;
  /** Allowance of an account and UTC day for uncollected amounts, in pico-USD (BILL-21). */
  readonly uncollectedDailyPicos: bigint;
}
