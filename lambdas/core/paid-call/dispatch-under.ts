import type { Attempt } from '../idempotency/claimed-execution.ts';
import type { PaidCall } from './paid-call.ts';

/** Whoever has lost its key makes no call, and says nothing about the vendor. */
export const dispatchUnder = async (
  attempt: Attempt | undefined,
  { reservation, passage }: Pick<PaidCall, 'reservation' | 'passage'>,
): Promise<void> => {
  try {
    await attempt?.dispatch(reservation.holdId);
  } catch (error) {
    await passage.report('unknown');
    throw error;
  }
};
