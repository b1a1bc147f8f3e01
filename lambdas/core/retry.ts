import { sleep } from './clock.ts';
import { StoreError } from './errors/store-error.ts';
import type { LedgerPorts } from './ledger/ledger.ts';

const RETRY_DELAYS_MS = [50, 200, 800] as const;

/** The write is safe to repeat, so it is, briefly, until the answer is definite. Throws the last StoreError. */
export const untilDefinite = async <T>(
  ports: Pick<LedgerPorts, 'clock' | 'random'>,
  call: () => Promise<T>,
): Promise<T> => {
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      await sleep(ports.clock, delayMs * (0.5 + ports.random()));
    }
  }
  return call();
};
