import type { Clock } from '../../core/clock.ts';
import { formatUsd } from '../../core/money/usd.ts';
import type { TextSink } from '../../core/text/pumped-stream.ts';
import { EventStream } from '../../http/event-stream.ts';
import { toErrorBody } from '../../http/render-error.ts';
import { toUsage } from './response.ts';

export interface StreamHooks extends Pick<TextSink, 'fail' | 'close'> {
  /** The client fell too far behind and gets no more. */
  readonly dropped: () => void;
}

export interface ChatStream {
  readonly events: EventStream;
  readonly sink: TextSink;
}

/**
 * Chunks as server-sent events. The last finish reason, the usage and the cost go out as one chunk, then `[DONE]`; after an
 * error event there is no `[DONE]` (CHAT-11, BILL-9).
 */
export const createChatStream = (clock: Clock, hooks: StreamHooks): ChatStream => {
  const events = new EventStream(clock, hooks.dropped);
  return {
    events,
    sink: {
      raw: (data) => events.event(data),
      finish: ({ held, reportedUsage }, { costPicos }) => {
        const usage = { ...(reportedUsage ? toUsage(reportedUsage) : {}), cost: formatUsd(costPicos) };
        events.event(JSON.stringify({ ...held, usage }));
        events.event('[DONE]');
      },
      fail: (error) => {
        events.event(JSON.stringify(toErrorBody(error)));
        hooks.fail(error);
      },
      close: (receipt) => {
        // What is left after a body's end may never run.
        hooks.close(receipt);
        events.end();
      },
    },
  };
};
