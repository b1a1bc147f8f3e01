import type { Clock } from '../core/clock.ts';
import type { RequestMemory } from '../core/limits/request-memory.ts';
import type { BodyBudget } from './body-budget.ts';
import { endCut, markAsCut } from './cut-answers.ts';
import type { Exchange, GatewayResponse } from './exchange.ts';

interface MemoryDependencies {
  readonly bodies: BodyBudget;
  readonly clock: Clock;
}

/**
 * Time that a request waits for the memory of its response. Large responses of an account follow each other, each within
 * a few seconds. Unlike a request with images, a waiting one keeps no connection to a server.
 */
const RESPONSE_WAIT_MS = 30_000;

/** Opens memory beyond the body of an exchange, in the shares of these owners (GEN-14). */
export const openMemory = (
  { bodies }: MemoryDependencies,
  exchange: Exchange,
  owners: readonly string[],
  until: 'started' | 'sent',
): RequestMemory => {
  if (until === 'sent') {
    const lease = bodies.openResponse(owners, RESPONSE_WAIT_MS);
    exchange.releaseAnswer = lease.end;
    return lease;
  }
  const lease = bodies.open(owners);
  const { releaseBody } = exchange;
  exchange.releaseBody = () => {
    releaseBody();
    lease.end();
  };
  return lease;
};

/** GEN-15: time of a whole response that takes memory until it has been sent. */
const READING_MS = 30_000;
const BYTES_PER_FURTHER_SECOND = 256 * 1024;

/**
 * Disconnects a client that reads a response with reserved memory too slowly, because the responses of others wait for
 * that memory. A host that cannot break a connection serves no other request meanwhile.
 */
export const limitReading = ({ clock }: MemoryDependencies, exchange: Exchange, { headers }: GatewayResponse): void => {
  const { event, releaseAnswer } = exchange;
  // Only a large response has its length already.
  const bytes = Number(headers['content-length'] ?? 0);
  if (bytes === 0) return;
  const cancel = clock.after(READING_MS + (bytes / BYTES_PER_FURTHER_SECOND) * 1_000, () => {
    markAsCut(event);
    endCut(event);
  });
  exchange.releaseAnswer = () => {
    cancel();
    releaseAnswer?.();
  };
};
