import { shown } from '../catalog/catalog.ts';
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

/** Model to call, and the fallback models for the case that its circuit rejects the call. */
interface Candidates {
  readonly asked: TextModel;
  readonly first: CheckedText;
  /** Each checks the request against a fallback model after `first`, in the order of the client. */
  readonly others: readonly (() => CheckedText)[];
}

/** FALL-1 to FALL-5. Chooses only the requested model or a named fallback model. Skips only open circuits. */
export const chooseCandidates = (
  deps: TextDependencies,
  { accountId, models: allowed }: Caller,
  order: TextParams,
): Candidates => {
  const nowMs = deps.ledger.clock.now();
  const { protocol, modelId } = order;
  const asked = chooseModel(deps.catalog, { modelId, protocol, kind: 'text', nowMs, allowed });
  const request = checkRequest(order, asked);
  const fallbacks = chooseFallbacks(deps, order, asked, { nowMs, allowed }).map(
    (model) => () => reachable(deps, checkText(deps, order, model, checkRequest(order, model), nowMs)),
  );
  const primary = reachable(deps, checkText(deps, order, asked, request, nowMs));
  let rejection = deps.circuits.peek(primary.circuit, accountId);
  if (!rejection) return { asked, first: primary, others: fallbacks };
  let soonest = rejection;
  for (const [index, check] of fallbacks.entries()) {
    if (rejection.kind !== 'open') break;
    const first = check();
    rejection = deps.circuits.peek(first.circuit, accountId);
    if (!rejection) return { asked, first, others: fallbacks.slice(index + 1) };
    soonest = sooner(soonest, rejection);
  }
  throw rejectionError(asked, soonest);
};

const reachable = (deps: TextDependencies, checked: CheckedText): CheckedText => {
  if (!deps.reachable(checked.provider)) throw unavailable(checked.model);
  return checked;
};

/** Returns the earlier retry of the two models, because the client may use either. */
const sooner = (rejection: CallRejection, other: CallRejection): CallRejection =>
  rejection.kind === 'open' && other.kind === 'open' && other.retryAfterSeconds < rejection.retryAfterSeconds
    ? other
    : rejection;

/** Returns the named fallback models in their order. Throws the 400 of an invalid one, even if none is needed (FALL-4). */
const chooseFallbacks = (
  { catalog }: TextDependencies,
  { fallbacks, protocol }: TextParams,
  primary: TextModel,
  { nowMs, allowed }: { readonly nowMs: number; readonly allowed: AllowedModels },
): readonly TextModel[] => {
  const chosen: TextModel[] = [];
  const refused = (problem: string): GatewayError =>
    new GatewayError('invalid_fallback_model', `${fallbacks?.header}: ${problem}`, { param: fallbacks?.header });
  const advice = `Use a model of GET /api/models/${primary.id}/fallbacks.`;
  for (const id of fallbacks?.modelIds ?? []) {
    const model = catalog.find(id, nowMs);
    const name = shown(id);
    if (!model) throw refused(`"${name}" does not exist or is not enabled. ${advice}`);
    refuseOtherModels(model, allowed, fallbacks?.header);
    if (model.id === primary.id) throw refused(`"${name}" is the requested model. ${advice}`);
    if (
      model.kind !== 'text' ||
      !model.protocols.some((spoken) => spoken === protocol) ||
      !isAllowedFallback(catalog, primary, model, nowMs)
    ) {
      throw refused(`"${name}" is not an allowed fallback for "${primary.id}". ${advice}`);
    }
    if (chosen.includes(model)) throw refused(`"${name}" repeats a model. Name each model once.`);
    chosen.push(model);
  }
  return chosen;
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
}
