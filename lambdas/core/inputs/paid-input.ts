import type { Wire } from '../catalog/providers.ts';
import type { EmbeddingModel, ModerationModel, Provider, Upstream } from '../catalog/schema.ts';
import type { JsonObject } from '../json.ts';
import { unlimitedMemory } from '../limits/request-memory.ts';
import { upstreamDeadline } from '../paid-call/deadline.ts';
import type { Caller, PaidCallDependencies } from '../paid-call/dependencies.ts';
import { type DryRun, refuseAboveBudget } from '../paid-call/preflight.ts';
import { reachModel } from '../paid-call/route-model.ts';
import type { Receipt } from '../paid-call/settle.ts';
import { whole, withPaidCall } from '../paid-call/with-paid-call.ts';
import type { Charge } from '../pricing/charge.ts';
import { promptTokensOf, type TokenUsage } from '../pricing/charge.ts';

/** Models that are priced by their input alone. */
export type InputModel = EmbeddingModel | ModerationModel;

export interface InputCall {
  readonly provider: Provider;
  readonly upstream: Upstream;
  /** Model id of the catalog, for the response. */
  readonly modelId: string;
  /** Valid body in the client's protocol. */
  readonly body: JsonObject;
  /** Aborted at the upstream's timeout. Its reason is the GatewayError for the client. */
  readonly signal: AbortSignal;
}

export interface InputAnswer {
  /** Response of the provider in pieces, with the model id replaced. It can have many megabytes. */
  readonly bytes: readonly Uint8Array[];
  readonly usage: TokenUsage | undefined;
}

/** Provider protocol without streams, priced by input. Makes exactly one call (GEN-5). */
export interface InputWire {
  send(call: InputCall): Promise<InputAnswer>;
}

export interface InputDependencies extends PaidCallDependencies {
  readonly wires: ReadonlyMap<Wire, InputWire>;
}

/** Parameters for the model, and the basis of the estimate. */
export interface InputRequest {
  readonly body: JsonObject;
  /** UTF-8 bytes of the text inputs. */
  readonly bytes: number;
  /** Tokens of the inputs that are token lists. */
  readonly tokens: number;
  /** Number of inputs. */
  readonly inputs: number;
  /** Estimated bytes of the response, for which memory is reserved (GEN-14). */
  readonly answerBytes: number;
  /** Names of the ignored request fields. */
  readonly ignored: readonly string[];
}

/** Parameters of the client before the model is looked up. */
export interface InputParams<Sold extends InputModel> {
  readonly modelId: string;
  /** End user, as the client names them. Stored with the charge and the log (CHAT-15). */
  readonly endUser: string | undefined;
  /** Whether the client requests only the cost (BILL-16). */
  readonly dryRun?: boolean;
  /** Checks the request against the catalog entry of a model. Throws a GatewayError that names the field. */
  validateFor(model: Sold): InputRequest;
}

export interface SoldInput {
  readonly body: JsonObject;
  readonly ignored: readonly string[];
  readonly endUser: string | undefined;
  /** Maximum number of tokens of the input, for the hold. */
  readonly tokensAtMost: number;
  /** Counts above this are implausible (BILL-7). */
  readonly tokensMax: number;
  /** Pico-USD per token. */
  readonly rate: bigint;
  readonly answerBytes: number;
  readonly dryRun?: boolean;
}

export type PaidInput =
  | DryRun
  | {
      readonly kind: 'answer';
      readonly answer: InputAnswer;
      readonly receipt: Receipt;
      readonly ignored: readonly string[];
    };

/** Returns the maximum number of tokens. A token covers at least one byte. */
export const inputTokensAtMost = ({ bytes, tokens }: InputRequest): number => bytes + tokens;

/**
 * Places a hold, calls the provider and settles (BILL-1). Places a hold of 0 too, so that the ledger rejects a blocked
 * or empty account.
 */
export const inputAnswer = async (
  deps: InputDependencies,
  caller: Caller,
  model: InputModel,
  { body, ignored, endUser, tokensAtMost, tokensMax, rate, answerBytes, dryRun }: SoldInput,
): Promise<PaidInput> => {
  const holdPicos = BigInt(tokensAtMost) * rate;
  const { upstream, provider, wire, circuit } = reachModel(deps, caller, model);
  refuseAboveBudget(holdPicos, 'input', 'send fewer or shorter inputs');
  if (dryRun) {
    return { kind: 'dry_run', model, holdPicos, outputTokensMax: undefined, prices: { input: rate }, ignored };
  }
  const memory = caller.openMemory?.('sent') ?? unlimitedMemory;
  const room = memory.reserve(answerBytes);
  if (room) await room;
  memory.settle(answerBytes);
  const deadline = upstreamDeadline(deps, caller, model);
  const hold = { amountPicos: holdPicos, expiresAtMs: deadline.expiresAtMs };
  const terms = {
    endUser,
    ignored,
    chargeFor: (usage: TokenUsage | undefined) => chargeForInput(usage, rate, tokensMax),
    expectsUsage: model.reportsUsage && rate > 0n,
  };
  const first = { model, circuit, hold, deadline };
  const paid = await withPaidCall(deps, caller, { first }, async (signal) => {
    const answer = await wire.send({ provider, upstream, modelId: model.id, body, signal });
    memory.settle(answer.bytes.reduce((sum, { length }) => sum + length, 0));
    return whole({ answer, usage: answer.usage, terms });
  });
  return { kind: 'answer', ...paid, ignored };
};

/** Returns the charge. Without usage, no tokens are charged (BILL-10). */
const chargeForInput = (usage: TokenUsage | undefined, rate: bigint, tokensMax: number): Charge => {
  const tokens = usage ? promptTokensOf(usage) : 0;
  return {
    amountPicos: BigInt(Math.min(tokens, tokensMax)) * rate,
    prices: { input: rate },
    usage: usage ? { input: tokens } : {},
    implausible: tokens > tokensMax,
  };
};
