import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors/gateway-error.ts';
import type { Wait } from '../http/body-budget.ts';
import type { BodySource } from '../http/body-source.ts';
import { collectBytes } from '../http/collect-bytes.ts';

/** GEN-15: time window in which a body must bring a minimum of bytes. */
const WINDOW_MS = 15_000;
const WINDOW_BYTES_MIN = 15 * 1024;
/** GEN-15: time of a whole body. */
const BODY_MS = 120_000;
const BYTES_PER_FURTHER_SECOND = 64 * 1024;

/**
 * Reads a body from its socket and counts bytes as they arrive, so a false or missing length changes nothing (GEN-1).
 */
export const createBodySource = (request: IncomingMessage): BodySource => {
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  const declaredBytes = Number.isSafeInteger(declared) ? declared : undefined;
  return {
    declaredBytes,
    read: (bytesMax, grow) => {
      const bytes = takeArrived(request, declaredBytes, bytesMax);
      if (bytes === undefined) return readAll(request, { declaredBytes, bytesMax, grow });
      return grow(bytes.length)?.then(() => bytes) ?? bytes;
    },
  };
};

/** Returns a body that has arrived as a whole before it is read, as most do. It needs no limits of time. */
const takeArrived = (request: IncomingMessage, declaredBytes: number | undefined, bytesMax: number) => {
  const { readableLength: length, complete, destroyed } = request;
  if (destroyed || length === 0 || length > bytesMax || !(complete || length === declaredBytes)) return undefined;
  request.on('error', () => undefined);
  const bytes: Buffer = request.read();
  // Lets Node reach the end of the request.
  request.resume();
  return bytes;
};

type Result = Buffer | 'too-long' | 'incomplete';

interface Reading {
  readonly declaredBytes: number | undefined;
  readonly bytesMax: number;
  readonly grow: (bytes: number) => Wait;
}

const readAll = async (request: IncomingMessage, { declaredBytes, bytesMax, grow }: Reading): Promise<Result> => {
  const body = collectBytes(Math.min(declaredBytes ?? 0, bytesMax));
  let bytes = 0;
  let isOver = false;
  const pace = watchPace(request);
  const time = watchTime(declaredBytes);
  request.on('error', () => undefined);
  const readPieces = async (): Promise<Result> => {
    for await (const piece of request.iterator({ destroyOnReturn: false })) {
      // A late piece must not take budget again. It only ends this loop, so that the rest can be discarded.
      if (isOver) return 'incomplete';
      pace.take(piece.length);
      bytes += piece.length;
      if (bytes > bytesMax) return 'too-long';
      pace.pause();
      time.pause();
      await grow(piece.length);
      pace.go();
      time.go(bytes);
      body.add(piece);
    }
    return body.whole();
  };
  try {
    return await Promise.race([readPieces(), time.over]);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    return 'incomplete';
  } finally {
    isOver = true;
    pace.end();
    time.end();
    body.drop();
  }
};

/** Wait for room in the body budget in ms. A longer wait excuses a slow window, because the client did not cause it. */
const OWN_WAIT_MS = 100;

/** Disconnects a client that sends too slowly. Time in which the host itself does not read is not counted (GEN-15). */
const watchPace = (request: IncomingMessage) => {
  let windowBytes = 0;
  let waitsSinceMs: number | undefined;
  let excused = false;
  const timer = setInterval(() => {
    if (windowBytes < WINDOW_BYTES_MIN && waitsSinceMs === undefined && !excused) request.destroy();
    windowBytes = 0;
    excused = false;
  }, WINDOW_MS);
  return {
    take: (bytes: number): void => {
      windowBytes += bytes;
    },
    pause: (): void => {
      waitsSinceMs = Date.now();
    },
    go: (): void => {
      excused ||= Date.now() - (waitsSinceMs ?? 0) > OWN_WAIT_MS;
      waitsSinceMs = undefined;
    },
    end: (): void => clearInterval(timer),
  };
};

/**
 * Limits the time of a whole body. Time in which the host itself does not read is not counted (GEN-15). `over` only
 * rejects, with `request_timeout`.
 */
const watchTime = (declaredBytes: number | undefined) => {
  const { promise: over, reject } = Promise.withResolvers<never>();
  let runsSinceMs = performance.now();
  let usedMs = 0;
  let timer: NodeJS.Timeout | undefined;
  const run = (receivedBytes: number): void => {
    const limitMs = BODY_MS + ((declaredBytes ?? receivedBytes) / BYTES_PER_FURTHER_SECOND) * 1_000;
    runsSinceMs = performance.now();
    timer = setTimeout(() => reject(timedOut(limitMs)), Math.max(0, limitMs - usedMs));
  };
  run(0);
  return {
    over,
    pause: (): void => {
      clearTimeout(timer);
      usedMs += performance.now() - runsSinceMs;
    },
    go: run,
    end: (): void => clearTimeout(timer),
  };
};

const timedOut = (limitMs: number): GatewayError => {
  const message = `The body did not arrive within ${Math.round(limitMs / 1_000)} s. Send it faster, or send a smaller body.`;
  // The rest of the body still arrives on this connection, so it cannot serve another request soon.
  return new GatewayError('request_timeout', message, { headers: { connection: 'close' } });
};

/**
 * Maximum of a rejected body that is read and dropped, so that the sender sees the response instead of a broken
 * connection.
 */
const UNREAD_BYTES_MAX = 64 * 1024 * 1024;
const UNREAD_MS = 30_000;

/** Reads and drops the rest of a body. Calls back at its end or at the limit. */
export const discardRest = (request: IncomingMessage, done: () => void): void => {
  if (request.complete || request.destroyed) {
    done();
    return;
  }
  let bytes = 0;
  const timer = setTimeout(() => request.destroy(), UNREAD_MS);
  const finish = (): void => {
    clearTimeout(timer);
    done();
  };
  request.on('error', () => undefined);
  request.once('close', finish);
  request.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > UNREAD_BYTES_MAX) request.destroy();
  });
};
