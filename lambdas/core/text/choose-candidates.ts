import { isAllowedFallback } from '../catalog/fallbacks.ts';
import type { TextModel } from '../catalog/schema.ts';
import type { Barred } from '../circuit/circuit.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Caller } from '../paid-call/dependencies.ts';
import { barredError, chooseModel, unavailable } from '../paid-call/route-model.ts';
import { type CheckedText, checkRequest, checkText } from './checked-text.ts';
import type { TextPorts } from './text-ports.ts';
import type { TextOrder } from './text-request.ts';

/** The model to call, and the reserve if that one's circuit turns out not to let the call through. */
export interface Candidates {
  readonly asked: TextModel;
  readonly first: CheckedText;
  /** Checks the request against the reserve; undefined without one. */
  readonly second: (() => CheckedText) | undefined;
}

/** FALL-1 to FALL-5. No other model is ever chosen but the one the client asked for or the reserve it named. */
export const chooseCandidates = (ports: TextPorts, { accountId }: Caller, order: TextOrder): Candidates => {
  const nowMs = ports.ledger.clock.now();
  const { protocol, modelId } = order;
  const model = chooseModel(ports.catalog, { modelId, protocol, kind: 'text', nowMs });
  const request = checkRequest(order, model);
  const reserve = chooseReserve(ports, order, model, nowMs);
  const primary = reachable(ports, checkText(ports, order, model, request, nowMs));
  const check = (other: TextModel): CheckedText =>
    reachable(ports, checkText(ports, order, other, checkRequest(order, other), nowMs));
  const barred = ports.circuits.look(primary.circuit, accountId);
  if (!barred) return { asked: model, first: primary, second: reserve && (() => check(reserve)) };
  if (barred.kind !== 'open' || !reserve) throw barredError(primary.model, barred);
  const first = check(reserve);
  const alsoBarred = ports.circuits.look(first.circuit, accountId);
  if (alsoBarred) throw barredError(primary.model, sooner(barred, alsoBarred));
  return { asked: model, first, second: undefined };
};

const reachable = (ports: TextPorts, checked: CheckedText): CheckedText => {
  if (!ports.reachable(checked.provider)) throw unavailable(checked.model);
  return checked;
};

/** The client asked for this model and may have either: it is told when the first of the two is tried again. */
const sooner = (barred: Barred & { readonly kind: 'open' }, other: Barred): Barred =>
  other.kind === 'open' && other.retryAfterSeconds < barred.retryAfterSeconds ? other : barred;

/** FALL-4: what is wrong with the reserve is told even when nobody needs it. */
const chooseReserve = (
  { catalog }: TextPorts,
  { fallbackModelId, protocol }: TextOrder,
  primary: TextModel,
  nowMs: number,
): TextModel | undefined => {
  if (fallbackModelId === undefined) return undefined;
  const reserve = catalog.find(fallbackModelId, nowMs);
  if (
    reserve?.kind === 'text' &&
    reserve.protocols.some((name) => name === protocol) &&
    isAllowedFallback(catalog, primary, reserve, nowMs)
  ) {
    return reserve;
  }
  throw new GatewayError(
    'invalid_fallback_model',
    `x-service-fallback-model: is no reserve of "${primary.id}". GET /api/models/${primary.id}/fallbacks lists those it has.`,
    { param: 'x-service-fallback-model' },
  );
};
