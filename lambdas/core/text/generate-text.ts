import type { TextModel, TextPriceRow } from '../catalog/schema.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { placeHold, type Reservation } from '../ledger/hold.ts';
import { formatUsd, PICOS_PER_USD } from '../money/usd.ts';
import { affordableAnswerTokens, maximumPrice } from '../pricing/text-price.ts';
import { chooseModel, chooseUpstream } from './choose-model.ts';
import { upstreamDeadline } from './deadline.ts';
import { promptTokensAtLeast, promptTokensAtMost } from './estimate.ts';
import { giveBack } from './give-back.ts';
import { type PumpedStream, pumpedStream } from './pumped-stream.ts';
import { type Receipt, settle } from './settle.ts';
import type { Caller, TextPorts } from './text-ports.ts';
import type { TextOrder, TextRequest } from './text-request.ts';
import type { WireAnswer } from './text-wire.ts';

/** The most one request may reserve (BILL-4). */
const HOLD_MAX_PICOS = 100n * PICOS_PER_USD;
/** A cap below this is not worth offering (BILL-6). */
const SMALLEST_CAP = 256;

/** A request with its price: everything that is known before money is reserved. */
interface PricedText {
  readonly model: TextModel;
  readonly request: TextRequest;
  readonly row: TextPriceRow;
  readonly promptTokens: number;
}

interface Outcome {
  readonly model: TextModel;
  /** The cap the gateway chose, when the client named none (BILL-6). */
  readonly chosenCap: number | undefined;
}

export type GeneratedText =
  | (Outcome & { readonly kind: 'answer'; readonly answer: WireAnswer; readonly receipt: Receipt })
  | (Outcome & { readonly kind: 'stream'; readonly stream: PumpedStream });

/**
 * Validate, hold, call, settle (BILL-1). An async function that answers when the outcome of the call is known, and never an
 * async generator: a refusal must be thrown before the first byte goes to the client, not when somebody starts to read.
 */
export const generateText = async (ports: TextPorts, caller: Caller, order: TextOrder): Promise<GeneratedText> => {
  const nowMs = ports.ledger.clock.now();
  const model = chooseModel(ports.catalog, order.modelId, order.protocol, nowMs);
  const request = order.prepare(model);
  refuseWhatCannotFit(model, request);
  const route = chooseUpstream(ports, model, request);
  const priced: PricedText = {
    model,
    request,
    row: ports.catalog.priceRow(model, nowMs),
    promptTokens: promptTokensAtMost(model, request.prompt),
  };
  const deadline = upstreamDeadline(ports, caller, model);
  const { reservation, cap } = await reserve(ports, caller, priced, deadline.expiresAtMs);
  // Only what settling needs: a stream must not keep the request's body in memory to its end.
  const settlement = {
    model,
    row: priced.row,
    choices: request.choices,
    endUser: order.endUser,
    reservation,
    cap,
  };
  try {
    const sent = await route.wire.send({
      protocol: order.protocol,
      request,
      model,
      upstream: route.upstream,
      provider: route.provider,
      outputTokensMax: cap,
      signal: deadline.start(),
    });
    const chosenCap = request.outputTokensMax === undefined ? cap : undefined;
    if (sent.kind === 'stream') {
      const stream = await pumpedStream(ports, settlement, sent, deadline.stop);
      return { kind: 'stream', model, chosenCap, stream };
    }
    deadline.stop();
    const receipt = await settle(ports, settlement, sent.usage);
    return { kind: 'answer', model, chosenCap, answer: sent, receipt };
  } catch (error) {
    deadline.stop();
    throw await giveBack(ports.ledger, reservation, error);
  }
};

const refuseWhatCannotFit = (model: TextModel, request: TextRequest): void => {
  const atLeast = promptTokensAtLeast(request.prompt);
  if (atLeast <= model.limits.contextTokens) return;
  throw new GatewayError(
    'context_length_exceeded',
    `messages: the prompt has at least ${atLeast} tokens, the context of "${model.id}" is ${model.limits.contextTokens}. Shorten it.`,
    { param: 'messages' },
  );
};

const reserve = async (
  ports: TextPorts,
  caller: Caller,
  { model, request, row, promptTokens }: PricedText,
  expiresAtMs: number,
): Promise<{ reservation: Reservation; cap: number }> => {
  const price = (cap: number) => maximumPrice(row, promptTokens, cap * request.choices);
  let cap = request.outputTokensMax ?? model.limits.outputTokensDefault;
  const amountPicos = price(cap);
  if (amountPicos > HOLD_MAX_PICOS) {
    throw new GatewayError(
      'request_budget_exceeded',
      `This request could cost ${formatUsd(amountPicos)} USD, more than the 100 USD one request may reserve: reduce max_tokens or split it.`,
      { param: 'max_tokens' },
    );
  }
  const affordableAt = (availablePicos: bigint): number =>
    Math.max(0, Math.floor(affordableAnswerTokens(row, promptTokens, availablePicos) / request.choices));
  const smaller = (availablePicos: bigint): bigint | undefined => {
    const affordable = affordableAt(availablePicos);
    if (affordable < SMALLEST_CAP || affordable >= cap) return undefined;
    cap = affordable;
    return price(affordable);
  };
  const { accountId, requestId } = caller;
  const advice = (availablePicos: bigint): string =>
    `What is available pays for ${affordableAt(availablePicos)} output tokens.`;
  const order = { accountId, requestId, amountPicos, expiresAtMs, advice };
  const reservation = await placeHold(
    ports.ledger,
    request.outputTokensMax === undefined ? { ...order, smaller } : order,
  );
  return { reservation, cap };
};
