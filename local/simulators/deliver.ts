import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from './scenario.ts';
import type { Answer, Frame, Piece } from './wire.ts';

export type Delivery = {
  readonly response: ServerResponse;
  readonly headers: Readonly<Record<string, string>>;
  readonly scenario: Scenario;
  errorFrame(eventsSent: number): string;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
  readonly onEvent: () => void;
};

/** Sends the response, or the part that the scenario allows. Returns whether it ended properly. */
export async function deliver(answer: Answer, delivery: Delivery): Promise<'answered' | 'cut'> {
  const length = answer.kind === 'file' ? { 'content-length': answer.length } : {};
  delivery.response.writeHead(200, { 'content-type': answer.contentType, ...length, ...delivery.headers });
  switch (answer.kind) {
    case 'plain':
      return deliverPlain(answer.body, delivery);
    case 'stream':
      return deliverStream(answer, delivery);
    case 'file':
      return deliverFile(answer.pieces, delivery);
  }
}

async function deliverPlain(body: string | Uint8Array, delivery: Delivery): Promise<'answered' | 'cut'> {
  const { response, scenario } = delivery;
  const bytes = Buffer.from(body);
  const sent = scenario.cutAfterUsage ? bytes.length - 1 : Math.floor(bytes.length / 2);
  if (!scenario.cutAfterUsage && scenario.cutAfter === undefined) {
    await write(bytes, delivery);
    response.end();
    return 'answered';
  }
  await write(bytes.subarray(0, sent), delivery);
  response.destroy();
  return 'cut';
}

async function deliverStream(
  { frames, contentType }: Extract<Answer, { kind: 'stream' }>,
  delivery: Delivery,
): Promise<'answered' | 'cut'> {
  const { response, scenario, signal } = delivery;
  // https://github.com/openai/openai-python/issues/3833
  const heartbeat = scenario.heartbeats && contentType.startsWith('text/event-stream') ? 'data:\n\n' : '';
  response.flushHeaders();
  let sent = 0;
  for (const frame of frames) {
    const turn = turnBefore(frame, sent, scenario);
    if (turn === 'error') {
      await write(delivery.errorFrame(sent), delivery);
      response.end();
      return 'answered';
    }
    if (turn === 'stall') await untilAborted(signal);
    if (turn === 'cut') {
      response.destroy();
      return 'cut';
    }
    if (sent > 0 && scenario.pauseMs) await sleep(scenario.pauseMs, undefined, { signal });
    await write(heartbeat + frame.text, delivery);
    delivery.onEvent();
    sent += 1;
    if (scenario.cutAfterUsage && frame.mark === 'usage') {
      response.destroy();
      return 'cut';
    }
  }
  response.end();
  return 'answered';
}

/** Holds at most one piece in memory. */
async function deliverFile(pieces: Iterable<Piece>, delivery: Delivery): Promise<'answered' | 'cut'> {
  const { response, scenario, signal, onEvent } = delivery;
  response.flushHeaders();
  let sent = 0;
  for (const { bytes, pauseMs, breaks } of pieces) {
    if (scenario.stallAfter === sent) await untilAborted(signal);
    if (scenario.cutAfter === sent) {
      response.destroy();
      return 'cut';
    }
    const waitMs = pauseMs ?? (sent > 0 ? scenario.pauseMs : undefined);
    if (waitMs) await sleep(waitMs, undefined, { signal });
    await write(bytes, delivery);
    onEvent();
    sent += 1;
    if (breaks) {
      response.destroy();
      return 'cut';
    }
  }
  response.end();
  return 'answered';
}

function turnBefore(frame: Frame, sent: number, scenario: Scenario): 'send' | 'error' | 'stall' | 'cut' {
  if (scenario.errorAfter === sent) return 'error';
  if (scenario.stallAfter === sent) return 'stall';
  if (scenario.cutAfter === sent || (scenario.cutAfterUsage && frame.mark === 'end')) return 'cut';
  return 'send';
}

/**
 * Resolves when the socket has accepted the data: a slow reader slows the response down, and everything before a cut is
 * sent.
 */
function write(data: string | Uint8Array, { response, signal }: Delivery): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    response.write(data, (error) => {
      signal.removeEventListener('abort', onAbort);
      if (error) reject(error);
      else resolve();
    });
  });
}

export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
