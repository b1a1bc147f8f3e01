import type { Catalog } from '../catalog/catalog.ts';
import type { Wire } from '../catalog/providers.ts';
import type { TranscriptionModel } from '../catalog/schema.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { allowanceUseOf, type UncollectedOf } from '../paid-call/call-report.ts';
import { upstreamDeadline } from '../paid-call/deadline.ts';
import { allowanceOf, type Caller, type PaidCallDependencies } from '../paid-call/dependencies.ts';
import { type DryRun, refuseAboveBudget } from '../paid-call/preflight.ts';
import { chooseModel, reachModel } from '../paid-call/route-model.ts';
import type { Receipt } from '../paid-call/settle.ts';
import { whole, withPaidCall } from '../paid-call/with-paid-call.ts';
import type { Transcript, TranscriptionAsk, TranscriptionWire } from './audio-wire.ts';
import { priceTranscription } from './transcription-price.ts';

export interface TranscribeDependencies extends PaidCallDependencies {
  readonly wires: ReadonlyMap<Wire, TranscriptionWire>;
}

/** Parameters of the client before the model is looked up. */
export interface TranscriptionParams {
  readonly modelId: string;
  readonly endUser: string | undefined;
  /** Whether the client requests only the cost (BILL-16). */
  readonly dryRun: boolean;
  /** Checks the request against the catalog entry of a model. Throws a GatewayError that names the field. */
  validateFor(model: TranscriptionModel): TranscriptionAsk;
}

export type Transcribed =
  | DryRun
  | { readonly kind: 'answer'; readonly transcript: Transcript; readonly receipt: Receipt };

/** Validates, places a hold, calls and settles (AUD-1, BILL-1). */
export const transcribe = async (
  deps: TranscribeDependencies,
  caller: Caller,
  order: TranscriptionParams,
): Promise<Transcribed> => {
  const nowMs = deps.ledger.clock.now();
  const model = chooseServed(deps.catalog, caller, order.modelId, nowMs);
  const ask = order.validateFor(model);
  const { upstream, provider, wire, circuit } = reachModel(deps, caller, model);
  const money = priceTranscription(deps.catalog.priceRow(model, nowMs), model, ask);
  refuseAboveBudget(money.holdPicos, 'file', 'send a shorter recording');
  if (order.dryRun) {
    return { kind: 'dry_run', model, holdPicos: money.holdPicos, outputTokensMax: undefined, prices: money.prices };
  }
  const deadline = upstreamDeadline(deps, caller, model);
  const { holdPicos: amountPicos } = money;
  const allowancePicos = allowanceOf(deps, caller);
  const hold = { amountPicos, expiresAtMs: deadline.expiresAtMs, allowancePicos, remedy: 'Top up.' };
  // The length of the recording is known only from the provider's response, so the hold estimates it (BILL-21).
  const uncollected: UncollectedOf = (thrown) => {
    const usesAllowance = allowanceUseOf(thrown, deadline, false);
    return usesAllowance === 'no' ? undefined : { picos: amountPicos, usesAllowance };
  };
  const first = { model, circuit, hold, deadline, uncollected };
  const { answer, receipt } = await withPaidCall(deps, caller, { first }, async (signal) => {
    const transcript = await wire.transcribe({ ...ask, provider, upstream, signal });
    const counted = money.pick(transcript.counted);
    const chargeFor = () => money.chargeFor(counted);
    return whole({
      answer: transcript,
      usage: counted?.kind === 'tokens' ? counted.tokens : undefined,
      terms: { endUser: order.endUser, chargeFor, expectsUsage: money.expectsUsage },
    });
  });
  return { kind: 'answer', transcript: answer, receipt };
};

/** AUD-1: rejects an unknown model, such as whisper, with the list of available models. */
const chooseServed = (
  catalog: Catalog,
  { models: allowed }: Caller,
  modelId: string,
  nowMs: number,
): TranscriptionModel => {
  const protocol = 'audio_transcriptions';
  if (catalog.find(modelId, nowMs))
    return chooseModel(catalog, { modelId, protocol, kind: 'transcription', nowMs, allowed });
  const served = catalog.list(nowMs).filter(({ kind }) => kind === 'transcription');
  const names = served.map(({ id }) => id).join(', ') || 'none at present';
  const message = `${catalog.explainMissing(modelId, nowMs, 'audio_transcriptions')} Models for transcriptions: ${names}.`;
  throw new GatewayError('model_not_found', message, { param: 'model' });
};
