import type { TextModel } from '../catalog/schema.ts';
import type { StoredResponse } from '../idempotency/claim-store.ts';
import type { ClaimedRequest } from '../idempotency/claimed-execution.ts';
import { requireFunds } from '../ledger/require-funds.ts';
import { unlimitedMemory } from '../limits/request-memory.ts';
import { type Deadline, upstreamDeadline } from '../paid-call/deadline.ts';
import { allowanceOf, type Caller } from '../paid-call/dependencies.ts';
import type { DryRun } from '../paid-call/preflight.ts';
import type { Receipt } from '../paid-call/settle.ts';
import {
  type Candidate,
  type PaidResponse,
  type PumpedStream,
  type Settled,
  type Streaming,
  streamed,
  whole,
  withPaidCall,
} from '../paid-call/with-paid-call.ts';
import { pricesAt } from '../pricing/text-price.ts';
import type { TextParams } from './conversation.ts';
import { cutStream, type OutputCutter } from './output-cutter.ts';
import { restoreNames } from './restore-names.ts';
import type { CheckedText, TextDependencies } from './text-candidates.ts';
import { chooseCandidates } from './text-candidates.ts';
import { priceText, settlementTerms, type TextHold } from './text-hold.ts';
import { type TextSink, textSource } from './text-stream.ts';
import type { FetchedImages, WireAnswer } from './text-wire.ts';
import { estimateUncollected, ForwardedOutput } from './uncollected-text.ts';

/** Model that serves the request, and values that the gateway chose for the client. */
export interface Outcome {
  readonly model: TextModel;
  /** Requested model, if a fallback model served the request (FALL-3). */
  readonly fallbackFrom: string | undefined;
  /** Output limit that the gateway chose instead of the client (BILL-6). */
  readonly chosenCap: number | undefined;
  /** Names of the ignored request fields. */
  readonly ignored: readonly string[];
}

export type GeneratedText =
  | DryRun
  | (Outcome & { readonly kind: 'answer'; readonly body: string; readonly receipt: Receipt })
  | (Outcome & { readonly kind: 'stream'; readonly stream: PumpedStream<TextSink> });

/** Options of a request for text. */
export interface TextOptions {
  /**
   * Renders a complete response in the client's protocol. Runs before the charge, so that every charge has a response.
   */
  readonly render: (answer: WireAnswer, model: TextModel) => string;
  /** Creates what cuts one response at these stop sequences (CHAT-17). */
  readonly createCutter?: ((sequences: readonly string[]) => OutputCutter) | undefined;
  /** Whether the client requests only the cost (BILL-16). */
  readonly dryRun: boolean;
  /** Response that is stored before the charge, for a request with an idempotency key. */
  readonly idempotent?: {
    readonly claimed: ClaimedRequest;
    readonly toStored: (outcome: Outcome, body: string, costPicos: bigint) => StoredResponse;
  };
}

type PaidText = Settled<Outcome & { readonly body: string }> | Streaming<Outcome, TextSink>;

/** A model with everything ready for its call. */
interface ReadyText extends Candidate {
  readonly checked: CheckedText;
  readonly money: TextHold;
  readonly deadline: Deadline;
  readonly output: ForwardedOutput;
}

/**
 * Validates, places a hold, calls the provider and settles (BILL-1). Returns when the response is complete or its
 * stream has started. Not an async generator, because an error must be thrown before the first byte is sent, not at the
 * first read.
 */
export const generateText = async (
  deps: TextDependencies,
  caller: Caller,
  order: TextParams,
  options: TextOptions,
): Promise<GeneratedText> => {
  const { asked, first, others } = chooseCandidates(deps, caller, order);
  if (options.dryRun) return dryRun(deps, caller, order, first);
  let fetched: FetchedImages | undefined;
  const ready = async (checked: CheckedText): Promise<ReadyText> => {
    if (checked.call.gather) {
      await requireFundsFor(deps, caller, order, checked);
      fetched ??= { byUrl: new Map(), memory: caller.openMemory?.('started') ?? unlimitedMemory };
      await checked.call.gather(fetched);
      // Only another model would use them, and the call has them as text.
      if (others.length === 0) fetched.byUrl.clear();
    }
    return makeReady(deps, caller, order, checked);
  };
  const primary = first.call.gather ? await ready(first) : makeReady(deps, caller, order, first);
  const { idempotent } = options;
  const fallbacks = others.map((check) => () => ready(check()));
  const candidates = { first: primary, fallbacks, claimed: idempotent?.claimed };
  const use = async (signal: AbortSignal, { checked, money, output }: ReadyText): Promise<PaidResponse<PaidText>> => {
    const { model, request } = checked;
    const { ignored } = request;
    const cap = money.cap();
    const fallbackFrom = model.id === asked.id ? undefined : order.modelId;
    const outcome = { model, chosenCap: money.chosenCap(), fallbackFrom, ignored };
    const cutter = request.cutAt && options.createCutter?.(request.cutAt);
    const terms = { endUser: order.endUser, ignored, cutter, ...settlementTerms(checked, cap, caller.estimate) };
    const sent = restoreNames(await checked.call.send({ outputTokensMax: cap, signal }), request.ownNames);
    if (sent.kind === 'stream') {
      const source = await textSource(sent, deps.ledger.clock, output);
      return streamed({ answer: outcome, source: cutter ? cutStream(source, cutter) : source, terms });
    }
    const body = options.render(cutter ? cutter.answer(sent) : sent, model);
    const toStored = idempotent && ((costPicos: bigint) => idempotent.toStored(outcome, body, costPicos));
    return whole({ answer: { ...outcome, body }, usage: sent.usage, terms, toStored });
  };
  const paid = await withPaidCall(deps, caller, candidates, use);
  if ('stream' in paid) return { kind: 'stream', ...paid.answer, stream: paid.stream };
  return { kind: 'answer', ...paid.answer, receipt: paid.receipt };
};

/**
 * Throws the error of the hold before anything is fetched, unless the account is known to have a balance (GEN-8): a small
 * request must not make the gateway fetch megabytes for nothing.
 */
const requireFundsFor = async (
  deps: TextDependencies,
  caller: Caller,
  { params }: TextParams,
  checked: CheckedText,
): Promise<void> => {
  const { accountId, requestId, storeTime, cap } = caller;
  const { order } = priceFor(deps, caller, params.cap, checked);
  if (deps.funded?.has(accountId)) return;
  const allowancePicos = allowanceOf(deps, caller);
  await requireFunds(deps.ledger, { ...order, accountId, requestId, storeTime, cap, allowancePicos });
};

/**
 * Prepares a model for its call: computes the hold and the deadline. The data that the provider accepts only as bytes has
 * been fetched. Throws the remaining errors that the request itself can cause. After this function, only limits, the
 * balance and the circuit are checked (GEN-8).
 */
const makeReady = (
  deps: TextDependencies,
  caller: Caller,
  { params, protocol }: TextParams,
  checked: CheckedText,
): ReadyText => {
  const money = priceFor(deps, caller, params.cap, checked);
  const deadline = upstreamDeadline(deps, caller, checked.model);
  const { model, circuit, promptTokens } = checked;
  const hold = { ...money.order, expiresAtMs: deadline.expiresAtMs, allowancePicos: allowanceOf(deps, caller) };
  const output = new ForwardedOutput(protocol);
  const { chargeFor } = settlementTerms(checked, money.cap());
  const uncollected = estimateUncollected({
    chargeFor,
    promptTokens,
    output,
    deadline,
  });
  return { model, circuit, hold, checked, money, deadline, output, uncollected };
};

/** Computes the hold by what this process knows about the account. */
const priceFor = (
  { funded }: TextDependencies,
  { accountId, estimate, cap }: Caller,
  capParam: string,
  checked: CheckedText,
): TextHold => priceText(checked, capParam, estimate?.value, funded?.lastAvailable(accountId, cap?.keyId));

/** Computes the cost without fetching anything. */
const dryRun = (deps: TextDependencies, caller: Caller, { params }: TextParams, checked: CheckedText): DryRun => {
  const money = priceFor(deps, caller, params.cap, checked);
  const { model, row, request } = checked;
  return {
    kind: 'dry_run',
    model,
    holdPicos: money.order.amountPicos,
    outputTokensMax: money.cap(),
    prices: pricesAt(row, money.promptTokens, request.promptPricing),
    estimateFactor: money.factor,
    ignored: request.ignored,
  };
};
