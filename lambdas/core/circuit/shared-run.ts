/**
 * One run at a time. Whoever asks while one is under way gets the next, together with all others who asked: it begins after the
 * question, so it sees what was there before. The work does not reject.
 */
export class SharedRun<T> {
  readonly #work: () => Promise<T>;
  #current: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  /** What has been asked for and is not done. */
  get pending(): Promise<T> | undefined {
    return this.#next ?? this.#current;
  }

  request(): Promise<T> {
    if (this.#next) return this.#next;
    if (!this.#current) return this.#start();
    this.#next = this.#current.then(() => {
      this.#next = undefined;
      return this.#start();
    });
    return this.#next;
  }

  #start(): Promise<T> {
    this.#current = this.#work().then((result) => {
      this.#current = undefined;
      return result;
    });
    return this.#current;
  }
}
