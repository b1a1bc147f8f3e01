/**
 * Bytes of leases that share a limit. A lease grows until it is complete. The oldest growing lease competes only with
 * complete ones, so that growing leases never block each other. A single lease may exceed the limit.
 */
export class MemoryPool {
  readonly #bytesMax: number;
  #bytes = 0;
  /** Bytes of complete leases, which are released without further bytes. */
  #completeBytes = 0;
  /** The oldest first. */
  readonly #growing = new Set<object>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  startGrowing(lease: object): void {
    this.#growing.add(lease);
  }

  stopGrowing(lease: object): void {
    this.#growing.delete(lease);
  }

  /** Whether a lease that has `own` bytes can have this many more. */
  fits(lease: object, own: number, more: number): boolean {
    const [oldest] = this.#growing;
    const others = lease === oldest ? this.#completeBytes : this.#bytes - own;
    return others === 0 || others + own + more < this.#bytesMax;
  }

  /** Adds bytes of a lease, or removes them if `bytes` is negative. */
  add(bytes: number, isComplete: boolean): void {
    this.#bytes += bytes;
    if (isComplete) this.#completeBytes += bytes;
  }

  /** Counts bytes that a lease already has as those of a complete lease, or no longer so if `bytes` is negative. */
  complete(bytes: number): void {
    this.#completeBytes += bytes;
  }
}
