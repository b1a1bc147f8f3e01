import { formatUsd } from '../../core/money/usd.ts';
import type { Summary } from '../exchange.ts';

const milliseconds = (value: number | undefined): string => (value === undefined ? '-' : `${Math.round(value)}ms`);

const kindOf = ({ replayed, dryRun }: Summary): string => {
  if (replayed) return 'replayed';
  return dryRun ? 'dry run' : 'ok';
};

/** One request on one line for a person: status, model, first byte, total, tokens, cost, id. */
export const toRequestLine = (requestId: string, summary: Summary): string =>
  [
    summary.status,
    summary.errorCode ?? kindOf(summary),
    summary.model ?? '-',
    `first ${milliseconds(summary.firstByteMs)}`,
    `total ${milliseconds(summary.totalMs)}`,
    `${summary.inputTokens ?? '-'}+${summary.outputTokens ?? '-'} tokens`,
    summary.costPicos === undefined ? '-' : `$${formatUsd(summary.costPicos)}`,
    requestId,
  ].join('  ');
