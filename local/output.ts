import { writeSync } from 'node:fs';
import type { Reporting } from '../lambdas/functions/wiring/dependencies.ts';
import { createLineReporting, type Output } from '../lambdas/functions/wiring/reporting.ts';
import { toCause, toRequestRecord } from '../lambdas/http/request-log.ts';

const FLUSH_MS = 100;
const FLUSH_LENGTH = 64 * 1024;

interface Stream {
  readonly isTTY?: boolean;
  readonly fd: number;
  write(text: string): unknown;
}

/**
 * Writes lines in batches unless the output is a terminal, because a system call per request costs more than the rest
 * of the log.
 */
export const inBatches = (stream: Stream): Output['stdout'] => {
  if (stream.isTTY) return stream;
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const text = waiting;
    waiting = '';
    if (text !== '') stream.write(text);
  };
  process.once('exit', () => {
    // At exit only a synchronous write completes. If the pipe is closed, the last lines are lost.
    try {
      if (waiting !== '') writeSync(stream.fd, waiting);
    } catch {}
  });
  return {
    write: (text) => {
      waiting += text;
      if (waiting.length >= FLUSH_LENGTH) flush();
      else timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
  };
};

/** `line` is for a person, `json` for a log collector: one object per line. */
export const createLocalReporting = (format: 'line' | 'json', output: Output): Reporting =>
  format === 'line' ? createLineReporting(output) : createJsonReporting(output);

const createJsonReporting = ({ stdout }: Output): Reporting => {
  const log = (level: 'INFO' | 'WARN' | 'ERROR', message: string, details: object): void => {
    stdout.write(`${JSON.stringify({ level, message, timestamp: new Date().toISOString(), ...details })}\n`);
  };
  return {
    finished: (requestId, summary) => {
      const record = toRequestRecord(requestId, summary);
      if (summary.cause === undefined) log('INFO', 'request', record);
      else log('ERROR', 'request', { ...record, cause: toCause(summary.cause) });
    },
    notice: (name, details) => log('WARN', name, details),
    measured: () => undefined,
  };
};
