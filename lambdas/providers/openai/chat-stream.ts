import { createParser } from 'eventsource-parser';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import type { WireEvent } from '../../core/text/text-wire.ts';
import { ChatChunks } from './chat-chunks.ts';
import type { RefusalContext } from './errors.ts';

export interface ChatStreamOptions {
  /** The id the client is to see. */
  readonly modelId: string;
  readonly choices: number;
  readonly told: RefusalContext;
}

/**
 * Reads the vendor's event stream. Events pass as they came; only the ones that say how it ends are looked into.
 * A stream is good when its usage has arrived, or when it ended with `[DONE]` after a finish reason (BILL-9, BILL-10).
 */
export async function* readChatStream(
  body: AsyncIterable<Uint8Array>,
  options: ChatStreamOptions,
): AsyncGenerator<WireEvent, void> {
  const arrived: string[] = [];
  const parser = createParser({ onEvent: (event) => arrived.push(event.data) });
  const decoder = new TextDecoder();
  const chunks = new ChatChunks(options);
  for await (const bytes of untilBroken(body, () => chunks.usageIsFinal)) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    for (const data of arrived.splice(0)) {
      if (data === '[DONE]') {
        yield endOf(chunks, true);
        return;
      }
      const out = chunks.take(data);
      if (out !== undefined) yield { kind: 'raw', data: out, opening: chunks.opening };
    }
  }
  yield endOf(chunks, false);
}

/** Once the final usage is here, a broken connection takes nothing away from the answer. */
async function* untilBroken(body: AsyncIterable<Uint8Array>, isWhole: () => boolean): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body;
  } catch (error) {
    if (!isWhole()) throw error;
  }
}

const endOf = (chunks: ChatChunks, done: boolean): WireEvent => {
  const held: JsonObject | undefined = chunks.held;
  if (held && (chunks.usageIsFinal || (done && chunks.allFinished))) {
    return { kind: 'end', held, reportedUsage: chunks.reportedUsage, usage: chunks.usage };
  }
  throw new GatewayError('upstream_error', 'The model stopped before its answer was complete. Nothing was charged.');
};
