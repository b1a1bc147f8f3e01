import type { Wire } from '../catalog/providers.ts';
import type { SpeechModel } from '../catalog/schema.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { upstreamDeadline } from '../paid-call/deadline.ts';
import type { Caller, PaidCallPorts } from '../paid-call/dependencies.ts';
import { type DryRun, refuseAboveBudget, refuseManyDrains } from '../paid-call/preflight.ts';
import { chooseModel, reachModel } from '../paid-call/route-model.ts';
import { applyCharge, commitCharge, type Receipt } from '../paid-call/settle.ts';
import { asGatewayError, giveBack, holdAndEnter, type PaidCall } from '../paid-call/with-paid-call.ts';
import type { SpeechAsk, SpeechFormat, SpeechStream, SpeechWire } from './audio-wire.ts';

export interface SpeakPorts extends PaidCallPorts {
  readonly wires: ReadonlyMap<Wire, SpeechWire>;
}

/** What a client asked for before a model was looked up. */
export interface SpeechOrder {
  readonly modelId: string;
  readonly endUser: string | undefined;
  /** Only what it would cost is asked (BILL-16). */
  readonly dryRun: boolean;
  /** Checks the request against a model's entry. Throws GatewayError naming the field. */
  prepare(model: SpeechModel): SpeechAsk;
}

/** Sound that has begun to come. */
export interface Speech {
  readonly kind: 'stream';
  readonly format: SpeechFormat;
  readonly mediaType: string | undefined;
  readonly stream: PumpedSpeech;
}

/** AUD-3: sold by the characters of the text, which are known: what is held is what it costs. */
export const speak = async (ports: SpeakPorts, caller: Caller, order: SpeechOrder): Promise<DryRun | Speech> => {
  const nowMs = ports.ledger.clock.now();
  const model = chooseModel(ports.catalog, { modelId: order.modelId, protocol: 'audio_speech', kind: 'speech', nowMs });
  const ask = order.prepare(model);
  const { upstream, provider, wire, circuit } = reachModel(ports, caller, model);
  const { input: rate } = ports.catalog.priceRow(model, nowMs).rates;
  const character = charactersIn(ask.text);
  const amountPicos = BigInt(character) * rate;
  const prices = { character: rate };
  refuseAboveBudget(amountPicos, 'input', 'send a shorter text');
  if (order.dryRun) {
    refuseManyDrains(ports, caller.accountId);
    return { kind: 'dry_run', model, holdPicos: amountPicos, outputTokensMax: undefined, prices };
  }
  const deadline = upstreamDeadline(ports, caller, model);
  const hold = { amountPicos, expiresAtMs: deadline.expiresAtMs, remedy: 'Top up or send a shorter text.' };
  const { reservation, passage } = await holdAndEnter(ports, caller, { model, circuit, hold });
  const paid: PaidCall = {
    modelId: model.id,
    endUser: order.endUser,
    reservation,
    passage,
    chargeFor: () => ({ amountPicos, prices, usage: { character }, implausible: false }),
    expectsUsage: false,
  };
  try {
    const sound = await wire.speak({ ...ask, provider, upstream, signal: deadline.start() });
    const stream = await pumpedSpeech(ports, paid, sound, deadline.stop);
    return { kind: 'stream', format: ask.format, mediaType: sound.mediaType, stream };
  } catch (error) {
    deadline.stop();
    throw await giveBack(ports.ledger, paid, error);
  }
};

/** BILL-3: Unicode code points. */
export const charactersIn = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

/** Where sound goes. None of these ever waits or throws. */
export interface SpeechSink {
  write(piece: Uint8Array): void;
  /** The last piece of a good answer, already charged. */
  finish(piece: Uint8Array): void;
  /** In place of the rest: nothing was charged, and nobody may take what was written for the whole. */
  fail(error: GatewayError): void;
  /** Nothing follows, and everything about the request's money is done. */
  close(receipt: Receipt | undefined): void;
}

interface PumpedSpeech {
  /** Starts once. The upstream is read to its end whether or not anybody takes what the sink is given (BILL-8). */
  pump(sink: SpeechSink): Promise<void>;
}

/** Awaits what can go out, so that a failure in its place, or an answer without any sound, is thrown and becomes a true HTTP error. */
const pumpedSpeech = async (
  ports: PaidCallPorts,
  paid: PaidCall,
  { bytes, close }: SpeechStream,
  stopDeadline: () => void,
): Promise<PumpedSpeech> => {
  const begun = await begin(bytes).catch((error: unknown) => {
    close();
    throw error;
  });
  await paid.passage.begun();
  return {
    pump: async (sink) => {
      let receipt: Receipt | undefined;
      let finished = false;
      try {
        const last = await forward(bytes, begun, sink);
        stopDeadline();
        const committed = await commitCharge(ports, paid, undefined);
        receipt = { costPicos: committed.record.amountPicos, usage: undefined, balancePicos: undefined };
        sink.finish(last);
        finished = true;
        await Promise.all([applyCharge(ports, paid, committed), paid.passage.report('succeeded')]);
      } catch (error) {
        // Nothing awaits a pump, so nothing may escape from it.
        const failure = await giveBack(ports.ledger, paid, error);
        if (!finished) sink.fail(asGatewayError(failure));
      } finally {
        stopDeadline();
        close();
        sink.close(receipt);
      }
    },
  };
};

const silent = (): GatewayError =>
  new GatewayError('upstream_error', 'The model answered without any sound. Nothing was charged.');

/** Undefined at the end. */
const nextPiece = async (bytes: SpeechStream['bytes']): Promise<Uint8Array | undefined> => {
  for (;;) {
    const next = await bytes.next();
    if (next.done) return undefined;
    if (next.value.length > 0) return next.value;
  }
};

interface Begun {
  readonly first: Uint8Array;
  /** Undefined when the first is all. */
  readonly second: Uint8Array | undefined;
}

/** The first piece can only go out when there is a second, and what breaks before that is a true HTTP error. */
const begin = async (bytes: SpeechStream['bytes']): Promise<Begun> => {
  const first = await nextPiece(bytes);
  if (!first) throw silent();
  return { first, second: await nextPiece(bytes) };
};

/** Answers the last piece, which is not passed on: it shows that the answer is whole, and waits for the charge. */
const forward = async (
  bytes: SpeechStream['bytes'],
  { first, second }: Begun,
  sink: SpeechSink,
): Promise<Uint8Array> => {
  let held = first;
  for (let next = second; next; next = await nextPiece(bytes)) {
    sink.write(held);
    held = next;
  }
  return held;
};
