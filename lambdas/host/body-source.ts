import type { IncomingMessage } from 'node:http';
import type { BodySource } from '../http/body-source.ts';

/** GEN-15: the least a body must bring in each window. */
const WINDOW_MS = 15_000;
const WINDOW_BYTES_MIN = 15 * 1024;

/** A body read straight from its socket, counted as it comes: a length that lies or is missing changes nothing (GEN-1). */
export const createBodySource = (request: IncomingMessage): BodySource => {
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  return {
    declaredBytes: Number.isSafeInteger(declared) ? declared : undefined,
    read: (bytesMax) => readAll(request, bytesMax),
  };
};

const readAll = (request: IncomingMessage, bytesMax: number): ReturnType<BodySource['read']> =>
  new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    let windowBytes = 0;
    const pace = setInterval(() => {
      if (windowBytes < WINDOW_BYTES_MIN) request.destroy();
      windowBytes = 0;
    }, WINDOW_MS);
    const settle = (result: Buffer | 'too-long' | 'incomplete'): void => {
      clearInterval(pace);
      request.off('data', take).off('end', finish).off('close', abandon);
      resolve(result);
    };
    const take = (piece: Buffer): void => {
      bytes += piece.length;
      windowBytes += piece.length;
      if (bytes > bytesMax) settle('too-long');
      else pieces.push(piece);
    };
    const finish = (): void => settle(Buffer.concat(pieces));
    const abandon = (): void => settle('incomplete');
    request.on('error', () => undefined);
    if (request.destroyed) settle('incomplete');
    else request.on('data', take).on('end', finish).on('close', abandon);
  });

/** The most of a refused body that is read away, so that its sender sees the refusal instead of a broken connection. */
const UNREAD_BYTES_MAX = 64 * 1024 * 1024;
const UNREAD_MS = 30_000;

/** Reads away what nobody asked for. */
export const discardRest = (request: IncomingMessage): void => {
  if (request.complete || request.destroyed) return;
  let bytes = 0;
  const timer = setTimeout(() => request.destroy(), UNREAD_MS);
  request.on('error', () => undefined);
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => clearTimeout(timer));
  request.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > UNREAD_BYTES_MAX) request.destroy();
  });
};
