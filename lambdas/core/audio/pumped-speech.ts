import { GatewayError } from '../errors/gateway-error.ts';
import type { PaidCallPorts } from '../paid-call/dependencies.ts';
import { applyCharge, commitCharge, type Receipt } from '../paid-call/settle.ts';
import type { PaidCall } from '../paid-call/with-paid-call.ts';
import { asGatewayError, giveBack } from '../paid-call/with-paid-call.ts';
import type { SpeechStream } from './audio-wire.ts';

/** Where sound goes. None of these ever waits or throws. */
export interface SpeechSink {
  write(piece: Uint8Array): void;
  /** The last piece of a good answer, already charged. */
  finish(piece: Uint8Array): void;
  /** In place of the rest: nothing was charged, and nobody may take what was written for the whole. */
  fail(error: GatewayError): void;
  /** Nothing follows, and everything about the request's money is done. */
  close(receipt: Receipt | undefined): void;
}

export interface PumpedSpeech {
  /** Starts once. The upstream is read to its end whether or not anybody takes what the sink is given (BILL-8). */
  pump(sink: SpeechSink): Promise<void>;
}

/** Awaits what can go out, so that a failure in its place, or an answer without any sound, is thrown and becomes a true HTTP error. */
export const pumpedSpeech = async (
  ports: PaidCallPorts,
  paid: PaidCall,
  { bytes, close }: SpeechStream,
  stopDeadline: () => void,
): Promise<PumpedSpeech> => {
  const begun = await begin(bytes).catch((error: unknown) => {
    close();
    throw error;
  });
  await paid.passage.begun();
  return {
    pump: async (sink) => {
      let receipt: Receipt | undefined;
      let finished = false;
      try {
        const last = await forward(bytes, begun, sink);
        stopDeadline();
        const committed = await commitCharge(ports, paid, undefined);
        receipt = { costPicos: committed.record.amountPicos, usage: undefined, balancePicos: undefined };
        sink.finish(last);
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

const silent = (): GatewayError =>
  new GatewayError('upstream_error', 'The model answered without any sound. Nothing was charged.');

/** Undefined at the end. */
const nextPiece = async (bytes: SpeechStream['bytes']): Promise<Uint8Array | undefined> => {
  for (;;) {
    const next = await bytes.next();
    if (next.done) return undefined;
    if (next.value.length > 0) return next.value;
  }
};

interface Begun {
  readonly first: Uint8Array;
  /** Undefined when the first is all. */
  readonly second: Uint8Array | undefined;
}

/** The first piece can only go out when there is a second, and what breaks before that is a true HTTP error. */
const begin = async (bytes: SpeechStream['bytes']): Promise<Begun> => {
  const first = await nextPiece(bytes);
  if (!first) throw silent();
  return { first, second: await nextPiece(bytes) };
};

/** Answers the last piece, which is not passed on: it shows that the answer is whole, and waits for the charge. */
const forward = async (
  bytes: SpeechStream['bytes'],
  { first, second }: Begun,
  sink: SpeechSink,
): Promise<Uint8Array> => {
  let held = first;
  for (let next = second; next; next = await nextPiece(bytes)) {
    sink.write(held);
    held = next;
  }
  return held;
};
