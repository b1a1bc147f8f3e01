import { Readable } from 'node:stream';
import type { Clock } from '../core/clock.ts';

/** A client with more unread data than this is treated as gone (BILL-8). */
const BACKLOG_BYTES_MAX = 1024 * 1024;
const KEEP_ALIVE_MS = 15_000;
/** Comment that every client ignores. */
export const KEEP_ALIVE = ': keep-alive\n\n';

/** Headers of a stream of server-sent events (CHAT-11). */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/**
 * Server-sent event stream whose writer never waits for its reader. It never errors, because that would end the Lambda
 * process. A reader that falls too far behind receives no more data.
 */
export class EventStream {
  readonly body: Readable;
  /** Called once, when a slow reader is dropped. */
  onDrop: () => void;
  readonly #clock: Clock;
  #backlog = '';
  #backlogBytes = 0;
  #flushSoon: NodeJS.Immediate | undefined;
  #readerWaits = false;
  #hasReader = false;
  #gone = false;
  #ended = false;
  #closed = false;
  #cancelKeepAlive = (): void => undefined;
  #silentSinceMs = 0;
  #keepAliveRuns = false;
  readonly #keepAlive: string;

  constructor(clock: Clock, onDrop: () => void = () => undefined, keepAlive = KEEP_ALIVE) {
    this.#clock = clock;
    this.#keepAlive = keepAlive;
    this.onDrop = onDrop;
    this.body = new Readable({ read: () => this.#read(), destroy: (_error, done) => this.#leave(done) });
  }

  /** Writes one event with this data. */
  event(data: string): void {
    this.write(`data: ${data}\n\n`);
  }

  /** Ends the stream. */
  end(): void {
    this.#ended = true;
    this.#cancelKeepAlive();
    this.#flush();
  }

  /**
   * Writes whole events, each with its blank line. A reader is dropped for its unread backlog, never for the size of
   * one event or before it could read.
   */
  write(text: string): void {
    if (this.#gone || this.#ended) return;
    if (this.#isBehind) {
      this.#drop();
      this.onDrop();
      return;
    }
    this.#silentSinceMs = this.#clock.now();
    this.#keepAliveRuns ||= this.#keepAliveIn(KEEP_ALIVE_MS);
    this.#backlog += text;
    this.#backlogBytes += Buffer.byteLength(text);
    // Sends all events of one turn of the event loop in one write.
    this.#flushSoon ??= setImmediate(() => this.#flush());
    if (this.#backlogBytes > BACKLOG_BYTES_MAX) this.#flush();
  }

  get #isBehind(): boolean {
    return this.#hasReader && this.#backlogBytes > BACKLOG_BYTES_MAX;
  }

  #read(): void {
    this.#hasReader = true;
    this.#readerWaits = true;
    this.#flush();
  }

  #flush(): void {
    clearImmediate(this.#flushSoon);
    this.#flushSoon = undefined;
    if (this.#readerWaits && this.#backlog !== '') {
      const next = Buffer.from(this.#backlog);
      this.#backlog = '';
      this.#backlogBytes = 0;
      this.#readerWaits = this.body.push(next);
    }
    if (!this.#ended || this.#closed || this.#backlog !== '' || this.body.destroyed) return;
    this.#closed = true;
    this.body.push(null);
  }

  #drop(): void {
    this.#gone = true;
    this.#backlog = '';
    this.#backlogBytes = 0;
    this.#cancelKeepAlive();
  }

  #leave(done: () => void): void {
    this.#drop();
    done();
  }

  /** The stream has one timer; an event only records its time. */
  #keepAliveIn(delayMs: number): true {
    this.#cancelKeepAlive = this.#clock.after(delayMs, () => {
      const leftMs = this.#silentSinceMs + KEEP_ALIVE_MS - this.#clock.now();
      if (leftMs > 0) this.#keepAliveIn(leftMs);
      else {
        this.#keepAliveRuns = false;
        this.write(this.#keepAlive);
      }
    });
    return true;
  }
}
