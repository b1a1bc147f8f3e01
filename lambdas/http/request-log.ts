import { formatUsd } from '../core/money/usd.ts';
import { routes } from '../routes.ts';
import { addedMsOf, type Summary } from './exchange.ts';

/**
 * Converts one request to a log record, named after OpenTelemetry's gen_ai attributes. Only the fields named here are
 * logged, so no prompt, header or key can be included.
 */
export const toRequestRecord = (requestId: string, summary: Summary): Record<string, unknown> => ({
  'gateway.request.id': requestId,
  trace_id: summary.trace?.traceId,
  'gateway.front_door.request.id': summary.frontDoorRequestId,
  'http.route': summary.route && routes[summary.route].path,
  'http.response.status_code': summary.status,
  'error.type': summary.errorCode,
  'gateway.limit': summary.limit,
  'gen_ai.request.model': summary.model,
  'gen_ai.usage.input_tokens': summary.inputTokens,
  'gen_ai.usage.output_tokens': summary.outputTokens,
  'gateway.cost_usd': summary.costPicos === undefined ? undefined : formatUsd(summary.costPicos),
  'gateway.replayed': summary.replayed,
  'gateway.dry_run': summary.dryRun,
  'gateway.account.id': summary.accountId,
  'enduser.id': summary.endUser,
  'gateway.first_byte_ms': summary.firstByteMs,
  'gateway.added_ms': addedMsOf(summary),
  'gateway.total_ms': summary.totalMs,
});

/**
 * Name and origin of an unexpected error. Its message may quote the client, so neither the message nor the stack is
 * logged (ERR-5).
 */
export const toCause = (thrown: unknown): Record<string, unknown> => {
  if (!(thrown instanceof Error)) return { name: typeof thrown };
  const [, place] = /\(?([^()\s/]+:\d+:\d+)\)?$/m.exec(thrown.stack ?? '') ?? [];
  return {
    name: thrown.name,
    ...(place === undefined ? {} : { place }),
    ...(thrown.cause === undefined ? {} : { cause: toCause(thrown.cause) }),
  };
};

const milliseconds = (value: number | undefined): string => (value === undefined ? '-' : `${Math.round(value)}ms`);

const kindOf = ({ replayed, dryRun }: Summary): string => {
  if (replayed) return 'replayed';
  return dryRun ? 'dry run' : 'ok';
};

/** Formats one request for a terminal: status, model, first byte, total time, tokens, cost and id. */
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
