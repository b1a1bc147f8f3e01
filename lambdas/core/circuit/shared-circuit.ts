import { inTime } from '../clock.ts';
import { attempt } from './attempt.ts';
import { CallTally } from './call-tally.ts';
import type { BucketCount, CircuitReading, CircuitState } from './circuit-store.ts';
import type { Barred, CircuitKey } from './circuits.ts';
import { openedAgain, retryAfterSeconds } from './opening.ts';
import { type SharedPorts, SharedProbe, STATE_KEPT_MS } from './shared-probe.ts';
import { SharedRun } from './shared-run.ts';
import { holdsFailure, opensForAll, windowStarts } from './window.ts';

const KNOWN_FOR_MS = 5_000;
/** A store that failed is left alone this long. */
const PAUSE_MS = 1_000;
const LOOKED_UP_WITHIN_MS = 50;
const LEASED_WITHIN_MS = 200;
/** Told when the store does not say when the next probe is. */
const UNKNOWN_SECONDS = 5;

/**
 * What this process knows of a circuit that all processes share. While the store does not answer, the last known state stands: an open
 * circuit stays shut, a closed one usable.
 */
export class SharedCircuit {
  readonly #key: CircuitKey;
  readonly #ports: SharedPorts;
  readonly #tally: CallTally;
  readonly #reads: SharedRun<boolean>;
  #state: CircuitState | undefined;
  #buckets: readonly BucketCount[] = [];
  #knownAtMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** Counts what was learnt from writes: a reading that began before one of them does not know of it. */
  #learnt = 0;

  constructor(key: CircuitKey, ports: SharedPorts) {
    this.#key = key;
    this.#ports = ports;
    this.#reads = new SharedRun(() => this.#read());
    this.#tally = new CallTally(ports.store, ports.clock, key, (startMs) => this.#accountsIn(startMs));
  }

  /** Open or half open. */
  get isOpen(): boolean {
    return this.#state !== undefined;
  }

  barred(): Barred | undefined {
    const now = this.#ports.clock.now();
    if (!this.#state) return undefined;
    const { openUntilMs, probe } = this.#state;
    const untilMs = openUntilMs > now ? openUntilMs : (probe?.leaseUntilMs ?? 0);
    return untilMs > now ? { kind: 'open', retryAfterSeconds: retryAfterSeconds(untilMs, now) } : undefined;
  }

  /** Begins a look-up if what is known is older than 5 s. */
  look(): void {
    const now = this.#ports.clock.now();
    if (this.#isFresh(now) || now < this.#pausedUntilMs || this.#reads.pending) return;
    if (!this.isOpen && holdsFailure(this.#buckets, now)) void this.#tally.send();
    else this.#tally.dropSuccesses();
    void this.#reads.request();
  }

  async lookedUp(): Promise<void> {
    const { pending } = this.#reads;
    if (pending) await inTime(this.#ports.clock, LOOKED_UP_WITHIN_MS, pending);
  }

  /** Of a half-open circuit. Undefined when it is closed after all. */
  async lease(owner: string): Promise<SharedProbe | Barred | undefined> {
    const { store, clock } = this.#ports;
    const probe = new SharedProbe(this.#key, owner, this.#ports);
    const pending = attempt(() => probe.take());
    const reply = await inTime(clock, LEASED_WITHIN_MS, pending);
    if (!reply) {
      // It may have been had, or still be: nobody would use it.
      void pending.then((late) =>
        late && 'refused' in late ? undefined : attempt(() => store.giveBack(this.#key, owner)),
      );
      return { kind: 'open', retryAfterSeconds: UNKNOWN_SECONDS };
    }
    if ('leased' in reply) {
      this.#learn(reply.leased);
      probe.keep(
        (state) => this.#learn(state),
        () => this.#doubt(),
      );
      return probe;
    }
    this.#learn(reply.refused);
    return this.barred() ?? (reply.refused && { kind: 'open', retryAfterSeconds: 1 });
  }

  /** Calls that began before the circuit opened say nothing new: neither here nor below are they counted while it is open. */
  succeeded(): void {
    if (!this.isOpen) this.#tally.addSuccess();
  }

  async failed(account: string): Promise<void> {
    const { clock, settings } = this.#ports;
    if (!this.#isFresh(clock.now())) await this.#reads.request();
    if (this.isOpen) return;
    this.#tally.addFailure(account);
    if (!(await this.#tally.send())) return;
    // Read again: what others have counted may have made it fewer than half.
    const isKnown = await this.#reads.request();
    if (isKnown && !this.isOpen && opensForAll(this.#buckets, clock.now(), settings)) await this.#open();
  }

  async #open(): Promise<void> {
    const { store, clock, settings, noticeOpened } = this.#ports;
    const now = clock.now();
    const opening = openedAgain(undefined, now, settings);
    const opened = await attempt(() => store.open(this.#key, opening, now, now + STATE_KEPT_MS));
    if (!opened) return this.#doubt();
    this.#learn({ ...opening, probe: undefined });
    noticeOpened();
  }

  /** Whether the state is known now. */
  async #read(): Promise<boolean> {
    const { store, clock, learnQuarantine } = this.#ports;
    const now = clock.now();
    const learnt = this.#learnt;
    const reading = await attempt(() => store.read(this.#key, windowStarts(now), now));
    if (!reading?.state.known) this.#pausedUntilMs = clock.now() + PAUSE_MS;
    if (!reading) return false;
    if (reading.state.known && learnt === this.#learnt) {
      this.#state = reading.state.value;
      this.#knownAtMs = now;
    }
    this.#keepBuckets(reading, now);
    if (reading.quarantinedUntilMs.known) learnQuarantine(reading.quarantinedUntilMs.value);
    return reading.state.known;
  }

  #keepBuckets(reading: CircuitReading, nowMs: number): void {
    const told = new Set(reading.buckets.map(({ startMs }) => startMs));
    const [, previous] = windowStarts(nowMs);
    const kept = this.#buckets.filter(({ startMs }) => startMs >= previous && !told.has(startMs));
    this.#buckets = [...kept, ...reading.buckets];
  }

  #accountsIn(start: number): number {
    return this.#buckets.find(({ startMs }) => startMs === start)?.accounts.length ?? 0;
  }

  #isFresh(nowMs: number): boolean {
    return nowMs - this.#knownAtMs <= KNOWN_FOR_MS;
  }

  #learn(state: CircuitState | undefined): void {
    this.#learnt += 1;
    this.#state = state;
  }

  /** The next look is a look-up. */
  #doubt(): void {
    this.#learnt += 1;
    this.#knownAtMs = Number.NEGATIVE_INFINITY;
  }
}
