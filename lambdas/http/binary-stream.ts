import { Readable } from 'node:stream';

/** Audio takes a few kilobytes per second. A client with more unread data than this is treated as gone (BILL-8). */
const BACKLOG_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Response body of bytes whose writer never waits for its reader. It never errors, because that would end the Lambda
 * process. A reader that falls too far behind receives no more data.
 */
export class BinaryStream {
  readonly body: Readable;
  readonly #onDrop: () => void;
  readonly #backlogBytesMax: number;
  #backlog: Uint8Array[] = [];
  #backlogBytes = 0;
  #readerWaits = false;
  #hasReader = false;
  #gone = false;
  #ended = false;
  #closed = false;

  /** `onDrop` is called once, when a slow reader is dropped. */
  constructor(onDrop: () => void, backlogBytesMax = BACKLOG_BYTES_MAX) {
    this.#onDrop = onDrop;
    this.#backlogBytesMax = backlogBytesMax;
    this.body = new Readable({ read: () => this.#read(), destroy: (_error, done) => this.#leave(done) });
  }

  /**
   * Writes a piece. A reader is dropped for its unread backlog, never for the size of one piece or before it could
   * read.
   */
  write(piece: Uint8Array): void {
    if (this.#gone || this.#ended || piece.length === 0) return;
    if (this.#hasReader && this.#backlogBytes > this.#backlogBytesMax) {
      this.#drop();
      this.#onDrop();
      return;
    }
    this.#backlog.push(piece);
    this.#backlogBytes += piece.length;
    this.#flush();
  }

  /** Ends the body. */
  end(): void {
    this.#ended = true;
    this.#flush();
  }

  /**
   * Ends the body as incomplete on hosts that cannot break the client's connection. Lambda then ends the response as
   * failed and discards this execution environment.
   */
  abandon(): void {
    this.#ended = true;
    this.body.destroy();
  }

  #read(): void {
    this.#hasReader = true;
    this.#readerWaits = true;
    this.#flush();
  }

  #flush(): void {
    while (this.#readerWaits) {
      const piece = this.#backlog.shift();
      if (!piece) break;
      this.#backlogBytes -= piece.length;
      this.#readerWaits = this.body.push(piece);
    }
    if (!this.#ended || this.#closed || this.#backlog.length > 0 || this.body.destroyed) return;
    this.#closed = true;
    this.body.push(null);
  }

  #drop(): void {
    this.#gone = true;
    this.#backlog = [];
    this.#backlogBytes = 0;
  }

  #leave(done: () => void): void {
    this.#drop();
    done();
  }
}
