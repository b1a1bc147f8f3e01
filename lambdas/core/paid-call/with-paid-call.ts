import type { Model } from '../catalog/schema.ts';
import type { CallPermit, CircuitId, Outcome } from '../circuit/circuit.ts';
import { asGatewayError, GatewayError } from '../errors/gateway-error.ts';
import type { StoredResponse } from '../idempotency/claim-store.ts';
import { type ClaimedRequest, ClaimLost } from '../idempotency/claimed-execution.ts';
import { HOLD_IDS, type HoldParams, type PlacedHold, placeHold } from '../ledger/hold.ts';
import type { LedgerDependencies } from '../ledger/ledger.ts';
import type { TokenUsage } from '../pricing/charge.ts';
import { type CallReport, costOf, createCallReport, releaseCall, type UncollectedOf } from './call-report.ts';
import type { Deadline } from './deadline.ts';
import type { Caller, PaidCallDependencies } from './dependencies.ts';
import { rejectionError, sooner } from './route-model.ts';
import {
  applyCharge,
  commitCharge,
  learnFromOverage,
  type Receipt,
  refreshAllowance,
  type Settlement,
  settle,
} from './settle.ts';

/** A validated and priced model that a request may call. */
export interface Candidate {
  readonly model: Model;
  readonly circuit: CircuitId;
  readonly hold: Omit<HoldParams, 'accountId' | 'requestId' | 'firstId' | 'endId' | 'cap' | 'storeTime'>;
  /** Deadline of the provider call, stopped when the call fails. Undefined if `use` limits the time itself. */
  readonly deadline?: Deadline;
  readonly uncollected?: UncollectedOf | undefined;
}

interface AcquiredCall<Chosen extends Candidate> {
  readonly candidate: Chosen;
  readonly placedHold: PlacedHold;
  readonly permit: CallPermit;
  readonly callReport: CallReport;
}

interface ReservationParams<Chosen extends Candidate> {
  readonly first: Chosen;
  /** Each prepares a fallback model that the client named, in the order of the client. */
  readonly fallbacks?: readonly (() => Promise<Chosen>)[] | undefined;
  /** Claim of a request with an idempotency key. */
  readonly claimed?: ClaimedRequest | undefined;
  /**
   * Undoes what a failed call created. Returns the error for the client. If it throws, the hold stays until it expires.
   */
  readonly withdraw?: ((error: unknown) => Promise<unknown>) | undefined;
}

/**
 * Places a hold, acquires a permit of the circuit, and runs `use`. If `use` throws, releases the hold, reports to the
 * circuit and throws the error for the client. Otherwise `use` has committed the request, or a pump owns it.
 */
export const withReservation = async <Chosen extends Candidate, Result>(
  deps: PaidCallDependencies,
  caller: Caller,
  { first, fallbacks, claimed, withdraw }: ReservationParams<Chosen>,
  use: (acquired: AcquiredCall<Chosen>) => Promise<Result>,
): Promise<Result> => {
  const acquired = await holdAndAcquire(deps, caller, { first, fallbacks, claimed });
  try {
    return await use(acquired);
  } catch (error) {
    const { candidate, placedHold, permit, callReport } = acquired;
    const { model, uncollected } = candidate;
    candidate.deadline?.stop();
    const failed = { placedHold, permit, modelId: model.id, claimed, uncollected, callReport };
    throw await failPaidCall(deps.ledger, failed, withdraw ? await withdraw(error) : error);
  }
};

/**
 * Places the hold and, just before dispatch, acquires the permit. If the circuit rejects the call, releases the hold
 * and places a new one at the prices of the next fallback model.
 */
const holdAndAcquire = async <Chosen extends Candidate>(
  deps: PaidCallDependencies,
  caller: Caller,
  { first, fallbacks = [], claimed }: Omit<ReservationParams<Chosen>, 'withdraw'>,
): Promise<AcquiredCall<Chosen>> => {
  const { accountId, requestId, storeTime, cap } = caller;
  const enter = async (
    candidate: Chosen,
    firstId: number,
    isLast: boolean,
  ): Promise<AcquiredCall<Chosen> | RejectedCandidate> => {
    const { model, circuit, hold } = candidate;
    const endId = claimed ? HOLD_IDS : firstId + HOLD_IDS;
    const callReport = createCallReport(deps.ledger.clock, caller, circuit);
    const placing = placeHold(deps.ledger, { ...hold, accountId, requestId, firstId, endId, storeTime, cap });
    const placedHold = await (deps.funded?.learnFrom(accountId, placing) ?? placing);
    callReport.mark('heldAtMs');
    const permit = await deps.circuits.acquire(circuit, { accountId, requestId });
    if (permit.kind === 'permit') return { candidate, placedHold, permit, callReport };
    const error = rejectionError(model, permit);
    const goesOn = permit.kind === 'open' && !isLast && (!claimed || placedHold.nextId < HOLD_IDS);
    // While a fallback model may still serve the request, this record must not carry an error.
    const reason = goesOn ? 'given_up' : error.code;
    await releaseCall(deps.ledger, placedHold, callReport, { reason, modelId: model.id });
    return { error, goesOn, nextId: placedHold.nextId };
  };
  const errors: GatewayError[] = [];
  let entered = await enter(first, 0, fallbacks.length === 0);
  for (const [index, prepare] of fallbacks.entries()) {
    if (!('error' in entered) || !entered.goesOn) break;
    errors.push(entered.error);
    const candidate = await prepare();
    const isLast = index === fallbacks.length - 1;
    // The last candidate gets its hold in any case, because the release of that hold records the error.
    const known = isLast ? undefined : deps.circuits.peek(candidate.circuit, accountId);
    if (known?.kind === 'open') errors.push(rejectionError(candidate.model, known));
    else entered = await enter(candidate, entered.nextId, isLast);
  }
  if ('error' in entered) throw errors.reduce(sooner, entered.error);
  return entered;
};

/** The circuit rejected the call, and the hold is released. */
interface RejectedCandidate {
  readonly error: GatewayError;
  /** Whether a fallback model is next. */
  readonly goesOn: boolean;
  readonly nextId: number;
}

/** A candidate whose call has a deadline of its own. */
interface TimedCandidate extends Candidate {
  readonly deadline: Deadline;
}

/** A paid call in progress, with the terms of its charge and its permit of the circuit. */
export interface PaidCall extends Settlement {
  readonly permit: CallPermit;
  readonly deadline: Pick<Deadline, 'stop'>;
  readonly uncollected?: UncollectedOf | undefined;
}

/** A call in progress, before the terms of its charge are known. */
interface OpenCall extends Omit<PaidCall, keyof Terms> {
  readonly deadline: Deadline;
}

/**
 * Handles a successful response of the provider: `whole` or `streamed`. It settles the request, or returns a stream
 * whose pump will settle it.
 */
export type PaidResponse<Result> = (deps: PaidCallDependencies, call: OpenCall) => Promise<Result>;

/** Terms of the charge: usage times the prices of the hold (BILL-3). */
export type Terms = Pick<Settlement, 'endUser' | 'ignored' | 'cutter' | 'chargeFor' | 'expectsUsage' | 'onOverage'>;

/**
 * Places a hold, calls the provider once, and settles or streams the response (BILL-1). `use` makes the call. If it
 * throws, its error ends the request and nothing is charged. The caller has validated the request.
 */
export const withPaidCall = <Chosen extends TimedCandidate, Result>(
  deps: PaidCallDependencies,
  caller: Caller,
  order: Pick<ReservationParams<Chosen>, 'first' | 'fallbacks' | 'claimed'>,
  use: (signal: AbortSignal, chosen: Chosen) => Promise<PaidResponse<Result>>,
): Promise<Result> =>
  withReservation(deps, caller, order, async ({ candidate, placedHold, permit, callReport }) => {
    const { claimed } = order;
    const { model, deadline, uncollected } = candidate;
    if (claimed) await beforeCall(permit, () => claimed.dispatch(placedHold.holdId));
    const signal = deadline.start();
    callReport.called();
    const respond = await use(signal, candidate);
    caller.providerTook?.(callReport.started());
    const { allowance } = caller;
    const call = { modelId: model.id, placedHold, permit, claimed, deadline, uncollected, allowance, callReport };
    return await respond(deps, call);
  });

/** Runs work that precedes the provider call. If it fails, the failure does not count toward the circuit. */
export const beforeCall = async (permit: CallPermit, work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    await permit.report('unknown');
    throw error;
  }
};

interface Whole<Answer> {
  readonly answer: Answer;
  readonly usage: TokenUsage | undefined;
  readonly terms: Terms;
  /** Response to store before the charge, for a request with an idempotency key. */
  readonly toStored?: ((costPicos: bigint) => StoredResponse) | undefined;
}

/** Handles a response without a stream. It is sent after its charge is committed and applied. */
export const whole =
  <Answer>({ answer, usage, terms, toStored }: Whole<Answer>): PaidResponse<Settled<Answer>> =>
  async (deps, { deadline, ...call }) => {
    deadline.stop();
    call.callReport?.ended();
    const reported = call.permit.report('succeeded');
    const receipt = await settle(deps, { ...terms, ...call }, usage, toStored);
    if (reported) await reported;
    return { answer, receipt };
  };

export interface Settled<Answer> {
  readonly answer: Answer;
  readonly receipt: Receipt;
}

interface Streamed<Answer, Last, Sink extends StreamSink<Last>> {
  /** Start of the response. */
  readonly answer: Answer;
  readonly source: StreamSource<Last, Sink>;
  readonly terms: Terms;
}

/** Handles a stream that has started. Its pump owns the deadline, the charge and the release of the call. */
export const streamed =
  <Answer, Last, Sink extends StreamSink<Last>>({
    answer,
    source,
    terms,
  }: Streamed<Answer, Last, Sink>): PaidResponse<Streaming<Answer, Sink>> =>
  async (deps, call) => {
    await call.permit.started();
    call.deadline.started();
    return { answer, stream: toPumped(deps, { ...terms, ...call }, source) };
  };

export interface Streaming<Answer, Sink> {
  readonly answer: Answer;
  readonly stream: PumpedStream<Sink>;
}

/** Receives a streamed response. No method waits or throws. */
export interface StreamSink<Last> {
  /** Sends the last piece of a successful response. The charge is committed. */
  finish(last: Last, receipt: Receipt): void;
  /** Sends an error instead of the rest. Nothing was charged. */
  fail(error: GatewayError): void;
  /** Ends the response. The money of the request is settled or released. */
  close(receipt: Receipt | undefined): void;
}

/** A provider's response that has started. */
export interface StreamSource<Last, Sink extends StreamSink<Last>> {
  /** Reads the response to its end. Passes on all of it except the last piece, which waits for the charge. */
  forward(sink: Sink): Promise<{ readonly last: Last; readonly usage: TokenUsage | undefined }>;
  /** Called once when reading has ended, however the response ended. */
  close(): void;
  /** When the upstream deadline stops: before the charge is committed, or after it is applied. */
  readonly deadline: 'until-last-byte' | 'until-charged';
}

/** A paid stream that waits for its sink. */
export interface PumpedStream<Sink> {
  /** Starts once. Reads the upstream to its end even if the client has left (BILL-8). */
  pump(sink: Sink): Promise<void>;
}

/** A function of its own, so that its closure does not keep the request body in memory until the stream ends. */
const toPumped = <Last, Sink extends StreamSink<Last>>(
  deps: PaidCallDependencies,
  paid: PaidCall,
  source: StreamSource<Last, Sink>,
): PumpedStream<Sink> => ({ pump: (sink) => pump(deps, paid, source, sink) });

/**
 * Sends the last piece after the commit and before the account update. No caller awaits a pump, so no failure may
 * escape.
 */
export const pump = async <Last, Sink extends StreamSink<Last>>(
  deps: PaidCallDependencies,
  paid: PaidCall,
  source: StreamSource<Last, Sink>,
  sink: Sink,
): Promise<void> => {
  let receipt: Receipt | undefined;
  let read = false;
  let finished = false;
  try {
    const { last, usage } = await source.forward(sink);
    read = true;
    paid.callReport?.ended();
    if (source.deadline === 'until-last-byte') paid.deadline.stop();
    const committed = await commitCharge(deps, paid, usage);
    receipt = { costPicos: committed.record.amountPicos, usage, balancePicos: undefined };
    sink.finish(last, receipt);
    finished = true;
    await Promise.all([
      applyCharge(deps, paid, committed),
      learnFromOverage(paid, committed, usage),
      refreshAllowance(deps, paid),
      paid.permit.report('succeeded'),
    ]);
  } catch (error) {
    // The commit counts the amount of a charge that it loses.
    const { uncollected, ...committing } = paid;
    const failed = read ? committing : paid;
    const failure = await failPaidCall(deps.ledger, failed, error);
    if (!finished) sink.fail(asGatewayError(failure));
  } finally {
    paid.deadline.stop();
    source.close();
    sink.close(receipt);
  }
};

type Failed = Pick<PaidCall, 'placedHold' | 'permit' | 'modelId' | 'claimed' | 'uncollected' | 'callReport'>;

/**
 * Fails a request after its hold was placed. Reports to the circuit, releases the hold and returns the error for the
 * client. That is the argument `thrown`, unless the request was charged or lost its claim, or the result of releasing
 * the hold is unknown. Never throws an error itself.
 */
const failPaidCall = async (ledger: LedgerDependencies, failed: Failed, thrown: unknown): Promise<unknown> => {
  const [failure] = await Promise.all([released(ledger, failed, thrown), failed.permit.report(outcomeOf(thrown))]);
  return failure;
};

/**
 * Returns the outcome for the circuit. A provider that rejected this request works, so its rejection counts as a
 * success. The request can be the cause of a timeout, also of the provider's own (504).
 */
const outcomeOf = (thrown: unknown): Outcome => {
  if (!(thrown instanceof GatewayError) || thrown.code === 'internal_error') return 'unknown';
  if (thrown.ignoredByCircuit) return 'unknown';
  if (thrown.code === 'upstream_timeout') return 'timed_out';
  return thrown.upstreamFailed ? 'failed' : 'succeeded';
};

const released = async (ledger: LedgerDependencies, failed: Failed, thrown: unknown): Promise<unknown> => {
  const { placedHold, modelId, claimed, uncollected, callReport } = failed;
  try {
    const { failure, answer } = await storeRefusal(failed, thrown);
    const code = reasonOf(failure);
    const reason = {
      reason: code,
      modelId,
      uncollected: costOf(uncollected, thrown),
      ...(answer === undefined ? {} : { answer }),
    };
    const record = await releaseCall(ledger, placedHold, callReport, reason);
    // If a charge or a stored response may exist, the claim keeps its lease, and a takeover resolves it.
    const stands = record ? record.outcome === 'settled' : answer !== undefined || claimed?.mayBeCharged === true;
    if (stands) claimed?.abandon();
    if (record?.outcome === 'settled') {
      return new GatewayError(
        'internal_error',
        'The gateway charged the response and then lost it. Report the request id to the operator of this service.',
        {
          cause: thrown,
        },
      );
    }
    // The client receives an unexpected error as "Nothing was charged". Without a record of the release,
    // `asGatewayError` returns an error that does not claim this.
    if (answer === undefined) return record || failure instanceof ClaimLost ? failure : asGatewayError(failure);
    if (record?.answer !== answer) return new ClaimLost();
    // If this write fails, a repeated request finds the stored response through the record of the release.
    await claimed?.complete().catch(() => undefined);
    return thrown;
  } catch (bug) {
    claimed?.abandon();
    return asGatewayError(bug);
  }
};

const reasonOf = (failure: unknown): string => {
  if (failure instanceof ClaimLost) return 'taken_over';
  return failure instanceof GatewayError ? failure.code : 'internal_error';
};

interface Refused {
  /** Error for the client. */
  readonly failure: unknown;
  /** Hash of the stored rejection. */
  readonly answer?: string;
}

/** Stores the provider's rejection of the request, so that repeats get it too (IDEM-7). */
const storeRefusal = async ({ placedHold, claimed }: Failed, thrown: unknown): Promise<Refused> => {
  const refusal = claimed?.toStoredRefusal(thrown);
  if (!claimed || !refusal) return { failure: thrown };
  try {
    return { failure: thrown, answer: await claimed.stageResponse(placedHold.holdId, refusal) };
  } catch (error) {
    // A rejection is free, so the client gets it even if it cannot be stored.
    return { failure: error instanceof GatewayError ? thrown : error };
  }
};
