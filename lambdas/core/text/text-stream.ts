import type { Clock } from '../clock.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import { applyCharge, commitCharge, type Receipt } from '../paid-call/settle.ts';
import type { PaidCall } from '../paid-call/with-paid-call.ts';
import { asGatewayError, giveBack } from '../paid-call/with-paid-call.ts';
import type { TextPorts } from './text-candidates.ts';
import type { Ending, TextDelta, WireEvent, WireStream } from './text-wire.ts';

type EndEvent = Extract<WireEvent, { readonly kind: 'end' }>;

/**
 * Where a stream goes: the client's protocol, which renders it. None of these ever waits or throws. An event is its data alone
 * (chat completions, generate-content) or all of it as it stands in the stream, name and blank line included (messages,
 * responses).
 */
export interface TextSink {
  native(events: readonly string[]): void;
  neutral(deltas: readonly TextDelta[]): void;
  /** The last words of a good answer, already charged. */
  finish(ending: Ending, receipt: Receipt): void;
  /** An error event instead of a proper end; nothing was charged. */
  fail(error: GatewayError): void;
  /** Nothing follows, and everything about the request's money is done. */
  close(receipt: Receipt | undefined): void;
}

export interface PumpedStream {
  /** Starts once. The upstream is read to its end whether or not anybody takes what the sink is given. */
  pump(sink: TextSink): Promise<void>;
}

/** Awaits the first event, so that an error in its place is thrown and becomes a true HTTP error (ERR-4). */
export const pumpedStream = async (
  ports: TextPorts,
  paid: PaidCall,
  { events, close }: WireStream,
  stopDeadline: () => void,
): Promise<PumpedStream> => {
  const begun = await begin(events, ports.ledger.clock).catch((error: unknown) => {
    close();
    throw error;
  });
  await paid.passage.begun();
  return {
    pump: async (sink) => {
      let receipt: Receipt | undefined;
      let finished = false;
      try {
        const { ending, usage } = await forward(events, begun, sink);
        const committed = await commitCharge(ports, paid, usage);
        receipt = { costPicos: committed.record.amountPicos, usage, balancePicos: undefined };
        sink.finish(ending, receipt);
        finished = true;
        await Promise.all([applyCharge(ports, paid, committed), paid.passage.report('succeeded')]);
      } catch (error) {
        // Nothing awaits a pump, so nothing may escape from it.
        const failure = await giveBack(ports.ledger, paid, error);
        if (!finished) sink.fail(asGatewayError(failure));
      } finally {
        stopDeadline();
        close();
        sink.close(receipt);
      }
    },
  };
};

type Next = IteratorResult<WireEvent, void>;

/** How long the opening events together wait for what follows them. */
const OPENING_MS = 1_000;

const isOpening = ({ done, value }: Next): boolean => !done && value.kind !== 'end' && value.opening === true;

/**
 * The first event, and those after opening ones if they come at once: an answer that is blocked or fails before it says anything
 * is then an HTTP error, too (CHAT-14).
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
): Promise<EndEvent> => {
  for (let index = 0; ; index += 1) {
    const next = await (begun[index] ?? events.next());
    if (next.done) throw new Error('a wire ended its stream without an end event');
    if (next.value.kind === 'end') return next.value;
    if (next.value.kind === 'native') sink.native(next.value.events);
    else sink.neutral(next.value.deltas);
  }
};
