import type { StoredAnswer } from '../idempotency/claim-store.ts';
import type { Attempt } from '../idempotency/claimed-execution.ts';
import type { Charge, TokenUsage } from '../pricing/charge.ts';
import type { Deadline } from './deadline.ts';
import { dispatchUnder } from './dispatch-under.ts';
import { giveBack } from './give-back.ts';
import { type Candidate, holdAndEnter } from './hold-and-enter.ts';
import type { Caller, PaidCallPorts } from './ports.ts';
import { type Receipt, type Settlement, settle } from './settle.ts';

/** Under an Idempotency-Key: what is stored before the answer is charged. */
export interface Keyed<Answer> {
  readonly attempt: Attempt;
  readonly toStored: (answer: Answer, costPicos: bigint) => StoredAnswer;
}

export interface PaidOrder<Answer> extends Pick<Settlement, 'endUser' | 'ignored' | 'expectsUsage'>, Candidate {
  readonly deadline: Deadline;
  /** What came, at the prices the request was held at (BILL-3). */
  readonly chargeFor: (answer: Answer) => Charge;
  readonly keyed?: Keyed<Answer> | undefined;
}

/** Hold, call once, settle (BILL-1), for answers that come whole. The request has been checked before. */
export const paidAnswer = async <Answer extends { readonly usage: TokenUsage | undefined }>(
  ports: PaidCallPorts,
  caller: Caller,
  order: PaidOrder<Answer>,
  send: (signal: AbortSignal) => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly receipt: Receipt }> => {
  const { reservation, passage } = await holdAndEnter(ports, caller, order);
  const { deadline, endUser, ignored, chargeFor, expectsUsage, keyed } = order;
  const paid = {
    modelId: order.model.id,
    endUser,
    ignored,
    expectsUsage,
    reservation,
    passage,
    attempt: keyed?.attempt,
  };
  try {
    await dispatchUnder(keyed?.attempt, paid);
    const answer = await send(deadline.start());
    deadline.stop();
    const settlement: Settlement = { ...paid, chargeFor: () => chargeFor(answer) };
    const toStored = (costPicos: bigint) => keyed?.toStored(answer, costPicos);
    const [receipt] = await Promise.all([
      settle(ports, settlement, answer.usage, toStored),
      passage.report('succeeded'),
    ]);
    return { answer, receipt };
  } catch (error) {
    deadline.stop();
    throw await giveBack(ports.ledger, paid, error);
  }
};
