import type { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { Receipt } from '../../../../lambdas/core/paid-call/settle.ts';
import type { PumpedStream } from '../../../../lambdas/core/paid-call/with-paid-call.ts';
import type { GeneratedText } from '../../../../lambdas/core/text/generate-text.ts';
import type { TextSink } from '../../../../lambdas/core/text/text-stream.ts';

/** Creates a sink that appends its calls to `log`, in order with the other events there. */
export const loggingSink = (log: string[]) => {
  const seen: { error?: GatewayError; receipt?: Receipt; closedWith?: Receipt | undefined } = {};
  const sink: TextSink = {
    native: (events) => void log.push(...events.map((event) => `raw ${event}`)),
    neutral: (deltas) => void log.push(...deltas.map((delta) => `delta ${delta.kind}`)),
    finish: (_end, receipt) => {
      log.push('finish');
      seen.receipt = receipt;
    },
    fail: (error) => {
      log.push(`fail ${error.code}`);
      seen.error = error;
    },
    close: (receipt) => {
      log.push('close');
      seen.closedWith = receipt;
    },
  };
  return { sink, seen };
};

export const streamed = (generated: GeneratedText): PumpedStream<TextSink> => {
  if (generated.kind !== 'stream') throw new Error('expected a stream');
  return generated.stream;
};

export const answeredIn = (generated: GeneratedText) => {
  if (generated.kind !== 'answer') throw new Error('expected a plain response');
  return generated;
};
