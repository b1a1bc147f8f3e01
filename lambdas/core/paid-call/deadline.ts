import type { Model } from '../catalog/schema.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Caller, PaidCallDependencies } from './dependencies.ts';

const PLAIN_MS = 600_000;
const REASONING_MS = 900_000;
/** Part of the host's time that is kept for the settlement. */
const HOST_SETTLE_MARGIN_MS = 30_000;

export interface Deadline {
  /** When the hold may be released by others: the deadline and a grace (BILL-13). */
  readonly expiresAtMs: number;
  /** Starts the clock on the upstream; the signal aborts with the error to end with. */
  start(): AbortSignal;
  /** A stream says something: from here on it has all of its time. */
  started(): void;
  stop(): void;
}

/**
 * LIM-6: deadline of a provider call: 600 s, or 900 s for models that reason, and never beyond the host's remaining
 * time. A front door may time out earlier: on the whole response, which also shortens the hold, or on a response that
 * has not started.
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
  const controller = new AbortController();
  let sentAtMs = now;
  let cancel = (): void => undefined;
  const abortAt = (atMs: number): void => {
    cancel = clock.after(Math.max(0, atMs - clock.now()), () => controller.abort(timeout(atMs - sentAtMs)));
  };
  return {
    expiresAtMs: now + allowedMs + deps.holdGraceMs,
    start: () => {
      sentAtMs = clock.now();
      const endsAtMs = sentAtMs + allowedMs;
      // The door counts from when the request was all there, whatever was waited for since.
      abortAt(Math.min(endsAtMs, answerBy?.atMs ?? endsAtMs));
      return controller.signal;
    },
    started: () => {
      if (answerBy?.covers !== 'beginning') return;
      cancel();
      abortAt(sentAtMs + allowedMs);
    },
    stop: () => cancel(),
  };
};

const timeout = (waitedMs: number): GatewayError =>
  new GatewayError(
    'upstream_timeout',
    `The provider did not respond within ${Math.max(0, Math.round(waitedMs / 1_000))} s. Nothing was charged.`,
  );

const reasons = (model: Model): boolean => model.kind === 'text' && model.reasoning !== null;
