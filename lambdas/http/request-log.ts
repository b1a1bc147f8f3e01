import { formatUsd } from '../core/money/usd.ts';
import { routes } from '../routes.ts';
import type { Summary } from './exchange.ts';

/**
 * One request as a log record, named after OpenTelemetry's gen_ai attributes. Only what is named here is logged: no prompt, no
 * header and no key can slip in.
 */
export const toRequestRecord = (requestId: string, summary: Summary): Record<string, unknown> => ({
  'gateway.request.id': requestId,
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
