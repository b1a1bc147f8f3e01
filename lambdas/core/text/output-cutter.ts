import type { StreamSource } from '../paid-call/with-paid-call.ts';
import type { TextSink } from './text-stream.ts';
import type { Ending, TextDelta, WireAnswer } from './text-wire.ts';

/**
 * Ends the output of one response at a stop sequence, for providers that cannot (CHAT-17). The provider's response is
 * read to its end all the same, and charged.
 */
export interface OutputCutter {
  /** Whether it has left out a part of the output. */
  readonly hasCut: boolean;
  /** Returns the complete response up to the stop sequence. */
  answer(answer: WireAnswer): WireAnswer;
  /** Returns the events to send now. What can be the start of a stop sequence waits for the next call. */
  native(events: readonly string[]): readonly string[];
  neutral(deltas: readonly TextDelta[]): readonly TextDelta[];
  /** Sends the output that still waits to the sink, and returns the ending to send after it. */
  end(last: Ending, sink: Pick<TextSink, 'native' | 'neutral'>): Ending;
}

/** Returns the stream with its output cut. */
export const cutStream = (
  source: StreamSource<Ending, TextSink>,
  cutter: OutputCutter,
): StreamSource<Ending, TextSink> => ({
  ...source,
  forward: async (sink) => {
    const { last, usage } = await source.forward({
      ...sink,
      native: (events) => {
        const kept = cutter.native(events);
        if (kept.length > 0) sink.native(kept);
      },
      neutral: (deltas) => {
        const kept = cutter.neutral(deltas);
        // Without deltas, the renderer announces the response.
        if (kept.length > 0 || deltas.length === 0) sink.neutral(kept);
      },
    });
    return { last: cutter.end(last, sink), usage };
  },
});
