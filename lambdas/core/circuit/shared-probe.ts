import type { Clock } from '../clock.ts';
import { attempt } from './attempt.ts';
import type { CircuitState, CircuitStore } from './circuit-store.ts';
import type { CircuitKey } from './circuits.ts';
import { afterProbe, type CircuitSettings, type Outcome } from './opening.ts';

const LEASE_MS = 30_000;
const RENEWED_EVERY_MS = 10_000;
/** Longer than any call takes: a probe whose end nobody reports is not kept for ever. */
const RENEWED_AT_MOST_MS = 1_200_000;
/** A circuit that nobody has called for a day is forgotten. */
export const STATE_KEPT_MS = 86_400_000;

export interface SharedPorts {
  readonly store: CircuitStore;
  readonly clock: Clock;
  readonly settings: CircuitSettings;
  /** What a reading told of the model's quarantine. */
  readonly learnQuarantine: (untilMs: number) => void;
  readonly noticeOpened: () => void;
  readonly noticeClosed: () => void;
}

/** The one call that may go to a half-open circuit, over all processes: its lease lasts while this process lives. */
export class SharedProbe {
  readonly #key: CircuitKey;
  readonly #owner: string;
  readonly #ports: SharedPorts;
  #state: CircuitState | undefined;
  #learn: (state: CircuitState | undefined) => void = () => undefined;
  #doubt: () => void = () => undefined;
  #cancel: () => void = () => undefined;

  constructor(key: CircuitKey, owner: string, ports: SharedPorts) {
    this.#key = key;
    this.#owner = owner;
    this.#ports = ports;
  }

  async take(): ReturnType<CircuitStore['lease']> {
    const { store, clock } = this.#ports;
    const now = clock.now();
    const reply = await store.lease(this.#key, { owner: this.#owner, leaseUntilMs: now + LEASE_MS }, now);
    if ('leased' in reply) this.#state = reply.leased;
    return reply;
  }

  /** Renews the lease until the call has ended. `learn` is told what became of the circuit, `doubt` that this is not known. */
  keep(learn: (state: CircuitState | undefined) => void, doubt: () => void): void {
    this.#learn = learn;
    this.#doubt = doubt;
    this.#renewAfter(RENEWED_AT_MOST_MS);
  }

  async end(outcome: Outcome): Promise<void> {
    const { store, clock, settings, noticeClosed } = this.#ports;
    this.#cancel();
    if (!this.#state) return;
    const now = clock.now();
    const before = this.#state;
    const after = outcome === 'unknown' ? before : afterProbe(before, outcome, now, settings);
    const done = await attempt(() => {
      if (outcome === 'unknown') return store.giveBack(this.#key, this.#owner);
      if (!after) return store.close(this.#key, this.#owner);
      return store.judge(this.#key, this.#owner, after, now + STATE_KEPT_MS);
    });
    if (done) this.#learn(after && { ...after, probe: undefined });
    else this.#doubt();
    if (done && !after) noticeClosed();
  }

  #renewAfter(leftMs: number): void {
    if (leftMs <= 0) return;
    const { store, clock } = this.#ports;
    this.#cancel = clock.after(RENEWED_EVERY_MS, async () => {
      this.#renewAfter(leftMs - RENEWED_EVERY_MS);
      const kept = await attempt(() => store.renew(this.#key, this.#owner, clock.now() + LEASE_MS));
      // Somebody else has it: to renew would be in vain.
      if (kept === false) this.#cancel();
    });
  }
}
