import type { Wire } from '../catalog/providers.ts';
import type { SpeechModel } from '../catalog/schema.ts';
import { upstreamDeadline } from '../paid-call/deadline.ts';
import type { Caller, PaidCallPorts } from '../paid-call/dependencies.ts';
import type { DryRun } from '../paid-call/preflight.ts';
import { refuseAboveBudget } from '../paid-call/preflight.ts';
import { chooseModel, reachModel } from '../paid-call/route-model.ts';
import type { PaidCall } from '../paid-call/with-paid-call.ts';
import { giveBack, holdAndEnter, refuseManyDrains } from '../paid-call/with-paid-call.ts';
import type { SpeechAsk, SpeechFormat, SpeechWire } from './audio-wire.ts';
import { type PumpedSpeech, pumpedSpeech } from './pumped-speech.ts';

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
