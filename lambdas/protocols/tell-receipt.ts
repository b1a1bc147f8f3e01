import type { Receipt } from '../core/paid-call/settle.ts';
import { answerTokensOf, promptTokensOf } from '../core/pricing/charge.ts';
import type { Summary } from '../http/exchange.ts';

/** What the log line says of a charge. */
export const tell = (summary: Summary, { costPicos, usage }: Receipt): void => {
  summary.costPicos = costPicos;
  if (!usage) return;
  summary.inputTokens = promptTokensOf(usage);
  summary.outputTokens = answerTokensOf(usage);
};
