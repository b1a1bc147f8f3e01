import type { Model } from '../catalog/schema.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { hasResponded } from '../responded-calls.ts';
import type { Caller, PaidCallDependencies } from './dependencies.ts';

const PLAIN_MS = 600_000;
const REASONING_MS = 900_000;
/** Share of the host's time that is reserved for the settlement. */
const HOST_SETTLE_MARGIN_MS = 30_000;

export interface Deadline {
  /** Time from which other processes may release the hold: the deadline plus a grace period (BILL-13). */
  readonly expiresAtMs: number;
  /** Starts the timer of the upstream. The signal aborts with the error for the client. */
  start(): AbortSignal;
  /** Whether the error ended the call because its time was over. */
  hasCut(error: unknown): boolean;
  /**
   * Reports that a stream has started. From then on, a front door's timeout for the start of the response no longer
   * applies, and one for silence counts from here.
   */
  started(): void;
  /** Reports that the client was sent a further piece. A front door's timeout for silence counts from here again. */
  progressed(): void;
  stop(): void;
}

/**
 * LIM-6: returns the deadline of a provider call: 600 s, or 900 s for models that reason, and never beyond the host's
 * remaining time. A front door's earlier timeout applies too. A timeout on the whole response also shortens the hold; a
 * timeout on the start applies only until the stream has started, and one on silence to each wait for a piece. The
 * circuit counts only a call without any response within the whole time of LIM-6, because a client can provoke every
 * other timeout.
 */
export const upstreamDeadline = (
  deps: PaidCallDependencies,
  { hostEndsAtMs, answerBy }: Pick<Caller, 'hostEndsAtMs' | 'answerBy'>,
  model: Model,
): Deadline => {
  const { clock } = deps.ledger;
  const now = clock.now();
  const byRule = Math.min(reasons(model) ? REASONING_MS : PLAIN_MS, deps.upstreamDeadlineMs);
  const byHost = hostEndsAtMs === undefined ? byRule : hostEndsAtMs - HOST_SETTLE_MARGIN_MS - now;
  const byDoor = answerBy?.covers === 'all' ? answerBy.atMs - now : byRule;
  const allowedMs = Math.max(0, Math.min(byRule, byHost, byDoor));
  const fullMs = Math.min(PLAIN_MS, deps.upstreamDeadlineMs);
  const controller = new AbortController();
  let cancelWhole = (): void => undefined;
  let cancelDoor = (): void => undefined;
  const abortAfter = (delayMs: number): (() => void) => {
    const waitMs = Math.max(0, delayMs);
    return clock.after(waitMs, () => {
      const ignoredByCircuit = waitMs < fullMs || hasResponded(controller.signal);
      controller.abort(timeout(waitMs, ignoredByCircuit));
    });
  };
  const passDoor = (): void => {
    if (!answerBy || answerBy.covers === 'all') return;
    cancelDoor();
    if (answerBy.covers === 'silence') cancelDoor = abortAfter(answerBy.silenceMs);
  };
  return {
    expiresAtMs: now + allowedMs + deps.holdGraceMs,
    start: () => {
      cancelWhole = abortAfter(allowedMs);
      // The front door measures from the arrival of the whole request, including any wait since.
      if (answerBy) cancelDoor = abortAfter(answerBy.atMs - clock.now());
      return controller.signal;
    },
    hasCut: (error) => controller.signal.aborted && error === controller.signal.reason,
    started: passDoor,
    progressed: passDoor,
    stop: () => {
      cancelWhole();
      cancelDoor();
    },
  };
};

const timeout = (waitedMs: number, ignoredByCircuit: boolean): GatewayError =>
  new GatewayError(
    'upstream_timeout',
    `The provider did not respond within ${Math.round(waitedMs / 1_000)} s. Nothing was charged. Retry the request.`,
    { ignoredByCircuit },
  );

const reasons = (model: Model): boolean => model.kind === 'text' && model.reasoning !== null;
