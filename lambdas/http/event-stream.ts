import { Readable } from 'node:stream';
import type { Clock } from '../core/clock.ts';

/** A client further behind than this is treated as gone (BILL-8). */
const BACKLOG_BYTES_MAX = 1024 * 1024;
const KEEP_ALIVE_MS = 15_000;

/** CHAT-11. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/**
 * A server-sent event stream whose writer never waits for its reader. It never fails either: a body that errors would take the
 * Lambda process down. A reader that falls too far behind gets no more of it.
 */
export class EventStream {
  readonly body: Readable;
  readonly #clock: Clock;
  #backlog: Buffer[] = [];
  #backlogBytes = 0;
  #readerWaits = false;
  #gone = false;
  #ended = false;
  #cancelKeepAlive = (): void => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.body = new Readable({ read: () => this.#read(), destroy: (_error, done) => this.#leave(done) });
  }

  /** One event with this data. */
  event(data: string): void {
    this.#write(`data: ${data}\n\n`);
  }

  /** Nothing follows. */
  end(): void {
    this.#ended = true;
    this.#cancelKeepAlive();
    this.#flush();
  }

  #write(text: string): void {
    if (this.#gone || this.#ended) return;
    this.#keepAliveLater();
    const bytes = Buffer.from(text);
    this.#backlog.push(bytes);
    this.#backlogBytes += bytes.length;
    this.#flush();
    if (this.#backlogBytes > BACKLOG_BYTES_MAX) this.#drop();
  }

  #read(): void {
    this.#readerWaits = true;
    this.#flush();
  }

  #flush(): void {
    while (this.#readerWaits) {
      const next = this.#backlog.shift();
      if (!next) break;
      this.#backlogBytes -= next.length;
      this.#readerWaits = this.body.push(next);
    }
    if (this.#ended && this.#backlog.length === 0 && !this.body.readableEnded && !this.body.destroyed)
      this.body.push(null);
  }

  #drop(): void {
    this.#gone = true;
    this.#backlog = [];
    this.#backlogBytes = 0;
    this.#cancelKeepAlive();
  }

  #leave(done: () => void): void {
    this.#drop();
    done();
  }

  #keepAliveLater(): void {
    this.#cancelKeepAlive();
    this.#cancelKeepAlive = this.#clock.after(KEEP_ALIVE_MS, () => this.#write(': keep-alive\n\n'));
  }
}
