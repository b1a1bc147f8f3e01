import type { SpeechFormat } from '../../core/audio/audio-wire.ts';
import type { SpeakPorts, Speech } from '../../core/audio/speak.ts';
import { BinaryStream } from '../../http/binary-stream.ts';
import { canBreak, endCut, isCut, markAsCut, onClientLeft } from '../../http/cut-answers.ts';
import { admissionOf, type Exchange, type GatewayResponse, type Summary } from '../../http/exchange.ts';
import { tellError } from '../../http/render-error.ts';
import { tell } from '../paid-response.ts';

export interface SpokenPorts {
  readonly speech: SpeakPorts;
  /** Told once when the last byte has been written and the money is settled. */
  readonly finished: (requestId: string, summary: Summary) => void;
}

/** Where the vendor does not say. */
const mediaTypes: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

/**
 * Sound as it arises. The upstream is read by itself to the end and never waits for this client (BILL-8). Bytes have no place for an
 * error: an answer that fails is broken off, and never ends as one that is whole.
 */
export const spokenAnswer = (
  { speech: { ledger, drains }, finished }: SpokenPorts,
  exchange: Exchange,
  { stream, format, mediaType = mediaTypes[format] }: Speech,
): GatewayResponse => {
  const { summary, requestId, startedAtMs, event } = exchange;
  const { accountId } = admissionOf(exchange);
  let endDrain: (() => void) | undefined;
  let ended = false;
  const detach = (): void => {
    if (!ended) endDrain ??= drains.begin(accountId);
  };
  const bytes = new BinaryStream(() => {
    markAsCut(event);
    detach();
  });
  onClientLeft(event, detach);
  exchange.finishesLater = true;
  const pumping = stream.pump({
    write: (piece) => bytes.write(piece),
    finish: (piece) => bytes.write(piece),
    fail: (error) => {
      tellError(summary, error);
      markAsCut(event);
    },
    close: (receipt) => {
      if (receipt) tell(summary, receipt);
    },
  });
  void pumping
    .catch((bug: unknown) => {
      // A defect of ours in here must neither end the process nor look like a good end.
      summary.cause = bug;
      markAsCut(event);
    })
    .finally(() => {
      ended = true;
      endDrain?.();
      summary.totalMs = ledger.clock.now() - startedAtMs;
      try {
        // What is left after a body's end may never run.
        finished(requestId, summary);
      } finally {
        close(event, bytes);
      }
    })
    .catch(() => close(event, bytes));
  return { statusCode: 200, headers: { 'content-type': mediaType, 'cache-control': 'no-store' }, body: bytes.body };
};

const close = (event: object, bytes: BinaryStream): void => {
  if (isCut(event) && !canBreak(event)) {
    bytes.abandon();
    return;
  }
  bytes.end();
  endCut(event);
};
