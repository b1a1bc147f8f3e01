import type { Provider, TextModel, TextPriceRow, Upstream } from '../catalog/schema.ts';
import type { CircuitKey } from '../circuit/circuit.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { chooseUpstream } from '../paid-call/route-model.ts';
import { promptTokensAtLeast, promptTokensAtMost } from './estimate.ts';
import type { TextPorts } from './text-ports.ts';
import type { TextOrder, TextRequest } from './text-request.ts';
import type { PreparedCall } from './text-wire.ts';

/** A request that is right for one model, with its price: everything that is known before money is reserved. */
export interface CheckedText {
  readonly model: TextModel;
  readonly provider: Provider;
  readonly upstream: Upstream;
  readonly circuit: CircuitKey;
  readonly request: TextRequest;
  readonly call: PreparedCall;
  readonly row: TextPriceRow;
  /** The most the prompt can have. */
  readonly promptTokens: number;
}

/** Throws the 400 or 422 that names the field. */
export const checkRequest = (order: TextOrder, model: TextModel): TextRequest => {
  const request = order.prepare(model);
  refuseWhatCannotFit(order, model, request);
  return request;
};

/** Throws what the vendor's protocol has no place for, and a 503 when there is no way to the model. Nothing is sent. */
export const checkText = (
  ports: TextPorts,
  order: TextOrder,
  model: TextModel,
  request: TextRequest,
  nowMs: number,
): CheckedText => {
  const { upstream, provider, wire } = chooseUpstream(ports, model, request);
  return {
    model,
    provider,
    upstream,
    circuit: { providerId: provider.id, modelId: model.id },
    request,
    call: wire.prepare({ protocol: order.protocol, request, model, upstream, provider }),
    row: ports.catalog.priceRow(model, nowMs),
    promptTokens: promptTokensAtMost(model, request),
  };
};

const refuseWhatCannotFit = ({ params }: TextOrder, model: TextModel, request: TextRequest): void => {
  const atLeast = promptTokensAtLeast(request.prompt);
  if (atLeast <= model.limits.contextTokens) return;
  throw new GatewayError(
    'context_length_exceeded',
    `${params.prompt}: at least ${atLeast} tokens, but the context of "${model.id}" is ${model.limits.contextTokens}. Shorten it.`,
    { param: params.prompt },
  );
};
