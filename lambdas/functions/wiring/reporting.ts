import { Logger } from '@aws-lambda-powertools/logger';
import { toCause, toRequestLine, toRequestRecord } from '../../http/request-log.ts';
import type { Settings } from '../../settings.ts';
import { createPublisher } from './metrics.ts';
import type { Reporting } from './parts.ts';
import { requestMetrics } from './request-metrics.ts';

/** Lines for a person at a terminal, or records and metrics for CloudWatch. */
export const createReporting = (settings: Pick<Settings, 'LOG_FORMAT' | 'FUNCTION_NAME'>): Reporting =>
  settings.LOG_FORMAT === 'line' ? createLineReporting(process) : forServices(settings);

type Writer = { readonly write: (text: string) => unknown };

/** Streams for lines of text. */
export interface Output {
  readonly stdout: Writer;
  readonly stderr: Writer;
}

export const createLineReporting = ({ stdout, stderr }: Output): Reporting => ({
  finished: (requestId, summary) => {
    stdout.write(`${toRequestLine(requestId, summary)}\n`);
    if (summary.cause !== undefined) stderr.write(`  ${JSON.stringify(toCause(summary.cause))}\n`);
  },
  notice: (name, details) => {
    stderr.write(`  ${name} ${JSON.stringify(details)}\n`);
  },
  measured: () => undefined,
});

const forServices = ({ FUNCTION_NAME }: Pick<Settings, 'FUNCTION_NAME'>): Reporting => {
  const logger = new Logger(FUNCTION_NAME === undefined ? {} : { persistentKeys: { 'faas.name': FUNCTION_NAME } });
  const publish = createPublisher();
  return {
    finished: (requestId, summary) => {
      const record = toRequestRecord(requestId, summary);
      if (summary.cause === undefined) logger.info('request', record);
      else logger.error('request', { ...record, cause: toCause(summary.cause) });
      for (const { dimensions, values } of requestMetrics(summary)) publish(values, dimensions);
    },
    notice: (name, details) => {
      logger.warn(name, { ...details });
      publish({ [name]: 1 });
    },
    measured: publish,
  };
};
