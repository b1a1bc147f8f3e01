import type { Clock } from '../clock.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import { asGatewayError, giveBack } from './give-back.ts';
import { applyCharge, commitCharge, type Receipt, type Settlement } from './settle.ts';
import type { TextPorts } from './text-ports.ts';
import type { WireEvent, WireStream } from './text-wire.ts';

type EndEvent = Extract<WireEvent, { readonly kind: 'end' }>;

/** Where a stream goes: the client's protocol, which renders it. None of these ever waits or throws. */
export interface TextSink {
  raw(data: string): void;
  /** The last words of a good answer, already charged. */
  finish(end: EndEvent, receipt: Receipt): void;
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
  settlement: Settlement,
  { events, close }: WireStream,
  stopDeadline: () => void,
): Promise<PumpedStream> => {
  const begun = await begin(events, ports.ledger.clock).catch((error: unknown) => {
    close();
    throw error;
  });
  return {
    pump: async (sink) => {
      let receipt: Receipt | undefined;
      let finished = false;
      try {
        const end = await forward(events, begun, sink);
        const record = await commitCharge(ports, settlement, end.usage);
        receipt = { costPicos: record.amountPicos, usage: end.usage, balancePicos: undefined };
        sink.finish(end, receipt);
        finished = true;
        await applyCharge(ports, settlement, record);
      } catch (error) {
        // Nothing awaits a pump, so nothing may escape from it.
        const failure = await giveBack(ports.ledger, settlement.reservation, error);
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

/** How long an opening event waits for the one after it. */
const OPENING_MS = 1_000;

/**
 * The first event, and the second after an opening one, if it comes at once: an answer that is blocked or fails before it says
 * anything is then an HTTP error, too (CHAT-14).
 */
const begin = async (events: AsyncIterator<WireEvent, void>, clock: Clock): Promise<Promise<Next>[]> => {
  const first = await events.next();
  if (first.done || first.value.kind !== 'raw' || !first.value.opening) return [Promise.resolve(first)];
  const second = events.next();
  let cancel = (): void => undefined;
  const waited = new Promise<void>((resolve) => {
    cancel = clock.after(OPENING_MS, resolve);
  });
  await Promise.race([second, waited]).finally(() => cancel());
  return [Promise.resolve(first), second];
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
    sink.raw(next.value.data);
  }
};
