import type { Wire } from '../catalog/providers.ts';
import type { SpeechModel } from '../catalog/schema.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { allowanceUseOf, type UncollectedOf } from '../paid-call/call-report.ts';
import { type Deadline, upstreamDeadline } from '../paid-call/deadline.ts';
import { allowanceOf, type Caller, type PaidCallDependencies } from '../paid-call/dependencies.ts';
import { type DryRun, refuseAboveBudget } from '../paid-call/preflight.ts';
import { chooseModel, reachModel } from '../paid-call/route-model.ts';
import {
  type PumpedStream,
  type StreamSink,
  type StreamSource,
  streamed,
  type Terms,
  withPaidCall,
} from '../paid-call/with-paid-call.ts';
import type { Charge } from '../pricing/charge.ts';
import type { SpeechAsk, SpeechFormat, SpeechStream, SpeechWire } from './audio-wire.ts';

export interface SpeakDependencies extends PaidCallDependencies {
  readonly wires: ReadonlyMap<Wire, SpeechWire>;
}

/** Parameters of the client before the model is looked up. */
export interface SpeechParams {
  readonly modelId: string;
  readonly endUser: string | undefined;
  /** Names of the ignored request fields (GEN-16). */
  readonly ignored: readonly string[];
  /** Whether the client requests only the cost (BILL-16). */
  readonly dryRun: boolean;
  /** Checks the request against the catalog entry of a model. Throws a GatewayError that names the field. */
  validateFor(model: SpeechModel): SpeechAsk;
}

/** Speech whose first bytes have arrived. */
export interface Speech {
  readonly kind: 'stream';
  readonly format: SpeechFormat;
  readonly mediaType: string | undefined;
  readonly stream: PumpedStream<SpeechSink>;
}

/**
 * Generates speech and charges by the characters of the text (AUD-3). The number of characters is known in advance, so
 * the hold equals the price.
 */
export const speak = async (deps: SpeakDependencies, caller: Caller, order: SpeechParams): Promise<DryRun | Speech> => {
  const nowMs = deps.ledger.clock.now();
  const { modelId, ignored } = order;
  const choice = { modelId, protocol: 'audio_speech', kind: 'speech', nowMs, allowed: caller.models } as const;
  const model = chooseModel(deps.catalog, choice);
  const ask = order.validateFor(model);
  const { upstream, provider, wire, circuit } = reachModel(deps, caller, model);
  const { input: rate } = deps.catalog.priceRow(model, nowMs).rates;
  const character = charactersIn(ask.text);
  const amountPicos = BigInt(character) * rate;
  const prices = { character: rate };
  refuseAboveBudget(amountPicos, 'input', 'send a shorter text');
  if (order.dryRun) {
    return { kind: 'dry_run', model, holdPicos: amountPicos, outputTokensMax: undefined, prices, ignored };
  }
  const deadline = upstreamDeadline(deps, caller, model);
  const { expiresAtMs } = deadline;
  const allowancePicos = allowanceOf(deps, caller);
  const hold = { amountPicos, expiresAtMs, allowancePicos, remedy: 'Top up or send a shorter text.' };
  const charge = { amountPicos, prices, usage: { character }, implausible: false };
  const delivery = new Delivery(deadline, amountPicos);
  const first = { model, circuit, hold, deadline, uncollected: delivery.uncollected };
  const { answer, stream } = await withPaidCall(deps, caller, { first }, async (signal) => {
    const sound = await wire.speak({ ...ask, provider, upstream, signal });
    return streamed({
      answer: { format: ask.format, mediaType: sound.mediaType },
      source: await speechSource(sound, delivery),
      terms: termsOf(order, charge),
    });
  });
  return { kind: 'stream', ...answer, stream };
};

/**
 * Builds the terms in a separate function, so that their closure does not keep the request's text in memory until the
 * stream ends.
 */
const termsOf = ({ endUser, ignored }: SpeechParams, charge: Charge): Terms => ({
  endUser,
  ignored,
  chargeFor: () => charge,
  expectsUsage: false,
});

/** Counts Unicode code points (BILL-3). */
export const charactersIn = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

/** Audio of one call that was sent to the client. */
class Delivery {
  readonly #deadline: Deadline;
  readonly #amountPicos: bigint;
  #hasContent = false;

  constructor(deadline: Deadline, amountPicos: bigint) {
    this.#deadline = deadline;
    this.#amountPicos = amountPicos;
  }

  /** Called after each piece. */
  readonly sent = (): void => {
    this.#hasContent = true;
    this.#deadline.progressed();
  };

  /** The provider bills the whole text, whatever part of the audio has arrived (BILL-21). */
  readonly uncollected: UncollectedOf = (thrown) => {
    const usesAllowance = allowanceUseOf(thrown, this.#deadline, this.#hasContent);
    if (usesAllowance === 'no' && !this.#hasContent) return undefined;
    return { picos: this.#amountPicos, usesAllowance };
  };
}

/** Receives audio as it arrives. */
export interface SpeechSink extends StreamSink<Uint8Array> {
  write(piece: Uint8Array): void;
}

/**
 * Waits until the first piece can be sent. Throws if the provider fails earlier or sends no audio, so that the client
 * receives an HTTP error.
 */
const speechSource = async (
  { bytes, close }: SpeechStream,
  delivery: Delivery,
): Promise<StreamSource<Uint8Array, SpeechSink>> => {
  const begun = await begin(bytes).catch((error: unknown) => {
    close();
    throw error;
  });
  return {
    // The provider reports no usage. The price depends on the text alone.
    forward: async (sink) => ({ last: await forward(bytes, begun, sink, delivery), usage: undefined }),
    close,
    deadline: 'until-last-byte',
  };
};

/** A text without words can cause it, so the circuit does not count it. */
const silent = (): GatewayError =>
  new GatewayError('upstream_error', 'The model returned no audio. Nothing was charged. Retry the request.', {
    ignoredByCircuit: true,
    usesAllowance: true,
  });

/** Returns the next piece that is not empty, or undefined at the end. */
const nextPiece = async (bytes: SpeechStream['bytes']): Promise<Uint8Array | undefined> => {
  for (;;) {
    const next = await bytes.next();
    if (next.done) return undefined;
    if (next.value.length > 0) return next.value;
  }
};

interface Begun {
  readonly first: Uint8Array;
  /** Undefined when there is only one piece. */
  readonly second: Uint8Array | undefined;
}

/**
 * Reads two pieces. The first piece is sent only when the second exists, so a connection that breaks earlier becomes an
 * HTTP error.
 */
const begin = async (bytes: SpeechStream['bytes']): Promise<Begun> => {
  const first = await nextPiece(bytes);
  if (!first) throw silent();
  return { first, second: await nextPiece(bytes) };
};

/**
 * Passes on all pieces except the last and returns the last one. The last piece completes the response, so it is sent
 * after the charge.
 */
const forward = async (
  bytes: SpeechStream['bytes'],
  { first, second }: Begun,
  sink: SpeechSink,
  delivery: Delivery,
): Promise<Uint8Array> => {
  let held = first;
  for (let next = second; next; next = await nextPiece(bytes)) {
    sink.write(held);
    delivery.sent();
    held = next;
  }
  return held;
};
