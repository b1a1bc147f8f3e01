import type { IncomingMessage } from 'node:http';

/** Bytes that may wait for the reader before the connection is no longer read. */
const WAITING_BYTES_MAX = 64 * 1024;

/**
 * Bytes of a response. One piece has everything that has arrived since the piece before, so the reader runs once per
 * packet and not once per chunk. It costs a fraction of Node's own iterator, which works for every kind of stream. Has
 * one reader. The connection stays open when the reader stops early.
 */
export class ResponseBytes implements AsyncIterableIterator<Uint8Array, void> {
  readonly #response: IncomingMessage;
  readonly #toError: (cause: unknown) => unknown;
  readonly #arrived: () => void;
  #hasArrived = false;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isRead = false;
  #hasEnded = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  /**
   * `toError` returns the error for the reader after the connection broke. `arrived` is called once, with the first
   * bytes.
   */
  constructor(response: IncomingMessage, toError: (cause: unknown) => unknown, arrived: () => void = () => undefined) {
    this.#response = response;
    this.#toError = toError;
    this.#arrived = arrived;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, void>> {
    if (!this.#isRead) this.#begin();
    const arrival = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (this.#waiting.length > 0 || this.#failure || this.#hasEnded) this.#continue();
    return arrival.then(this.#result);
  }

  async return(): Promise<IteratorResult<Uint8Array, void>> {
    this.stop();
    return { done: true, value: undefined };
  }

  /** Fails the reader, unless the response is complete. Call this before the connection is destroyed. */
  abort(): void {
    if (!this.#hasEnded) this.#fail(undefined);
  }

  /** Drops the rest. */
  stop(): void {
    this.#hasEnded = true;
    this.#waiting = [];
    this.#response.off('data', this.#add);
  }

  readonly #result = (): IteratorResult<Uint8Array, void> => {
    if (this.#waiting.length > 0) return { done: false, value: this.#take() };
    if (this.#failure) throw this.#failure.error;
    return { done: true, value: undefined };
  };

  #begin(): void {
    this.#isRead = true;
    const response = this.#response;
    this.#hasEnded ||= response.readableEnded;
    if (this.#hasEnded) return;
    if (response.destroyed) {
      this.#fail(response.errored);
      return;
    }
    response.on('error', this.#fail);
    response.on('end', this.#end);
    response.on('close', this.#close);
    response.on('data', this.#add);
  }

  #take(): Uint8Array {
    const pieces = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (this.#response.isPaused()) this.#response.resume();
    const [piece = Buffer.alloc(0)] = pieces;
    return pieces.length === 1 ? piece : Buffer.concat(pieces);
  }

  readonly #add = (piece: Uint8Array): void => {
    if (!this.#hasArrived) {
      this.#hasArrived = true;
      this.#arrived();
    }
    this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.#response.pause();
    this.#continue();
  };

  readonly #end = (): void => {
    this.#hasEnded = true;
    this.#continue();
  };

  /** A connection that closes without an error and without the end is broken as well. */
  readonly #close = (): void => {
    if (!this.#hasEnded) this.#fail(undefined);
  };

  readonly #fail = (cause: unknown): void => {
    this.#failure ??= { error: this.#toError(cause) };
    this.#continue();
  };

  #continue(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
