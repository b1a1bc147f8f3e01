import type { AnswerBy, Caller } from '../core/paid-call/dependencies.ts';
import { admissionOf, type Exchange } from '../http/exchange.ts';

/** Who asks, and how long there is for the answer. */
export const callerOf = (exchange: Exchange, answerBy: AnswerBy | undefined): Caller => {
  const { requestId, hostEndsAtMs } = exchange;
  return { accountId: admissionOf(exchange).accountId, requestId, hostEndsAtMs, answerBy };
};
