import type { Clock } from '../clock.ts';
import type { StreamSink, StreamSource } from '../paid-call/with-paid-call.ts';
import type { TokenUsage } from '../pricing/charge.ts';
import type { Ending, TextDelta, WireEvent, WireStream } from './text-wire.ts';
import type { ForwardedOutput } from './uncollected-text.ts';

/**
 * Renders a stream in the client's protocol. For chat completions and generate-content an event is its data alone. For
 * messages and responses it is the whole event with its name and blank line.
 */
export interface TextSink extends StreamSink<Ending> {
  native(events: readonly string[]): void;
  neutral(deltas: readonly TextDelta[]): void;
}

/**
 * Waits for the first event. If an error arrives first, throws it, so that the client receives an HTTP error (ERR-4). `output`
 * counts the forwarded output.
 */
export const textSource = async (
  { events, close, usageSoFar }: WireStream,
  clock: Clock,
  output: ForwardedOutput,
): Promise<StreamSource<Ending, TextSink>> => {
  output.isStream = true;
  output.usageSoFar = usageSoFar;
  const begun = await begin(events, clock).catch((error: unknown) => {
    close();
    throw error;
  });
  return { forward: (sink) => forward(events, begun, sink, output), close, deadline: 'until-charged' };
};

type Next = IteratorResult<WireEvent, void>;

/** Longest wait for the first event after announcements, in ms. */
const OPENING_MS = 1_000;

const isOpening = ({ done, value }: Next): boolean => !done && value.kind !== 'end' && value.announcement === true;

/**
 * Reads the first event. If it only announces the response, also reads the following events, until content arrives or
 * `OPENING_MS` has passed. A response that the provider blocks or breaks off before its first content then also becomes
 * an HTTP error (CHAT-14).
 */
const begin = async (events: AsyncIterator<WireEvent, void>, clock: Clock): Promise<Promise<Next>[]> => {
  const first = await events.next();
  const begun = [Promise.resolve(first)];
  if (!isOpening(first)) return begun;
  let cancel = (): void => undefined;
  const waited = new Promise<undefined>((resolve) => {
    cancel = clock.after(OPENING_MS, () => resolve(undefined));
  });
  try {
    for (;;) {
      const next = events.next();
      begun.push(next);
      const arrived = await Promise.race([next, waited]);
      if (!arrived || !isOpening(arrived)) return begun;
    }
  } finally {
    cancel();
  }
};

const forward = async (
  events: AsyncIterator<WireEvent, void>,
  begun: readonly Promise<Next>[],
  sink: TextSink,
  output: ForwardedOutput,
): Promise<{ readonly last: Ending; readonly usage: TokenUsage | undefined }> => {
  for (let index = 0; ; index += 1) {
    const next = await (begun[index] ?? events.next());
    if (next.done) throw new Error('a wire ended its stream without an end event');
    if (next.value.kind === 'end') return { last: next.value.ending, usage: next.value.usage };
    output.add(next.value);
    if (next.value.kind === 'native') sink.native(next.value.events);
    else sink.neutral(next.value.deltas);
  }
};
