import type { TokenUsage } from '../pricing/token-usage.ts';
import type { Deadline } from './deadline.ts';
import { giveBack } from './give-back.ts';
import { type Candidate, holdAndEnter } from './hold-and-enter.ts';
import type { Caller, PaidCallPorts } from './ports.ts';
import { type Receipt, type Settlement, settle } from './settle.ts';

export interface PaidOrder extends Omit<Settlement, 'reservation' | 'modelId' | 'attempt'>, Candidate {
  readonly deadline: Deadline;
}

/** Hold, call once, settle (BILL-1), for answers that come whole. The request has been checked before. */
export const paidAnswer = async <Answer extends { readonly usage: TokenUsage | undefined }>(
  ports: PaidCallPorts,
  caller: Caller,
  order: PaidOrder,
  send: (signal: AbortSignal) => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly receipt: Receipt }> => {
  const { reservation, passage } = await holdAndEnter(ports, caller, order);
  const { deadline, endUser, chargeFor, expectsUsage } = order;
  const paid = { modelId: order.model.id, endUser, chargeFor, expectsUsage, reservation, passage };
  try {
    const answer = await send(deadline.start());
    deadline.stop();
    const [receipt] = await Promise.all([settle(ports, paid, answer.usage), passage.report('succeeded')]);
    return { answer, receipt };
  } catch (error) {
    deadline.stop();
    throw await giveBack(ports.ledger, paid, error);
  }
};
