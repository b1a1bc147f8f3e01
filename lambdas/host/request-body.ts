import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors/gateway-error.ts';
import type { BodySource } from '../http/body-source.ts';

/** GEN-15: the least a body must bring in each window. */
const WINDOW_MS = 15_000;
const WINDOW_BYTES_MIN = 15 * 1024;

/** A body read straight from its socket, counted as it comes: a length that lies or is missing changes nothing (GEN-1). */
export const createBodySource = (request: IncomingMessage): BodySource => {
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  const declaredBytes = Number.isSafeInteger(declared) ? declared : undefined;
  return {
    declaredBytes,
    read: (bytesMax, grow) => readAll(request, { declaredBytes, bytesMax, grow }),
  };
};

type Result = Buffer | 'too-long' | 'incomplete';

interface Reading {
  readonly declaredBytes: number | undefined;
  readonly bytesMax: number;
  readonly grow: (bytes: number) => Promise<void>;
}

const readAll = async (request: IncomingMessage, { declaredBytes, bytesMax, grow }: Reading): Promise<Result> => {
  const body = collect(Math.min(declaredBytes ?? 0, bytesMax));
  let bytes = 0;
  const pace = watchPace(request);
  request.on('error', () => undefined);
  try {
    for await (const piece of request.iterator({ destroyOnReturn: false })) {
      pace.take(piece.length);
      bytes += piece.length;
      if (bytes > bytesMax) return 'too-long';
      pace.pause();
      await grow(piece.length);
      pace.go();
      body.add(piece);
    }
    return body.whole();
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    return 'incomplete';
  } finally {
    pace.end();
  }
};

/** Not sooner, since what is announced need not come. */
const ROOM_FROM_BYTES = 1024 * 1024;

/** A large body whose length was announced is put where it stays: pieces that are joined at the end are in memory twice (GEN-14). */
const collect = (announcedBytes: number) => {
  let pieces: Buffer[] = [];
  let room: Buffer | undefined;
  let bytes = 0;
  const put = (piece: Buffer): void => {
    if (room) room.set(piece, bytes);
    else pieces.push(piece);
    bytes += piece.length;
  };
  return {
    add: (piece: Buffer): void => {
      put(piece);
      if (room || bytes < ROOM_FROM_BYTES || bytes >= announcedBytes) return;
      const early = pieces;
      // Memory without data does not count yet.
      room = Buffer.allocUnsafeSlow(announcedBytes);
      pieces = [];
      bytes = 0;
      early.forEach(put);
    },
    whole: (): Buffer => room?.subarray(0, bytes) ?? Buffer.concat(pieces, bytes),
  };
};

/** Longer than this is waiting that the client did not cause. */
const OWN_WAIT_MS = 100;

/** Cuts off a request that brings too little, but not while it is we who do not read (GEN-15). */
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

/** The most of a refused body that is read away, so that its sender sees the refusal instead of a broken connection. */
const UNREAD_BYTES_MAX = 64 * 1024 * 1024;
const UNREAD_MS = 30_000;

/** Reads and drops the rest of a body. Calls back at its end, or when enough was read. */
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
