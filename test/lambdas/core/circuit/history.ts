import { expect } from 'vitest';
import type { CallPermit, CallRejection, Outcome } from '../../../../lambdas/core/circuit/circuit.ts';
import { CircuitWatch } from './circuit-watch.ts';
import { CircuitWorld, type Weather, type WorldProcess } from './circuit-world.ts';

/** Longest time, in ms, for which a process renews the lease of a probe. No call takes longer. */
const RENEWED_AT_MOST_MS = 1_200_000;

const KNOWN_FOR_MS = 5_001;
/**
 * Longest time, in ms, for which a process may act on old data after the store works again: its last store call and the
 * pause after that call.
 */
const CALM_MS = 7_000;

interface Running {
  readonly process: number;
  readonly account: string;
  readonly request: string;
  readonly permit: CallPermit;
}

/** Consecutive failures in one process. */
interface Streak {
  accounts: string[];
  /**
   * Accounts for which at least five failures in a row may have disabled the model in this process, now or earlier; `*`
   * for all accounts.
   */
  readonly mayBeBarred: Set<string>;
}

/** Three processes on one store, and the checks that must pass in any history. */
export class CircuitHistory {
  readonly world = new CircuitWorld();
  readonly watch = new CircuitWatch(this.world);
  readonly #processes: WorldProcess[] = [0, 1, 2].map(() => this.world.start(this.watch.store()));
  readonly #streaks: Streak[] = [0, 1, 2].map(() => ({ accounts: [], mayBeBarred: new Set() }));
  #running: Running[] = [];
  #troubledAtMs = Number.NEGATIVE_INFINITY;

  get running(): number {
    return this.#running.length;
  }

  async call(process: number, account: string, outcome: Outcome): Promise<void> {
    if (await this.begin(process, account)) await this.finish(this.running - 1, outcome);
  }

  /** Whether the circuit permitted the call. */
  async begin(index: number, account: string): Promise<boolean> {
    const process = this.#at(index);
    const request = `r${this.world.requests + 1}`;
    const entered = await process.enter(account);
    if (entered.kind === 'permit') {
      this.#mayPass(request);
      this.#running.push({ process: index, account, request, permit: entered });
      return true;
    }
    this.watch.turnedAway(request);
    this.#mayBar(index, account, entered);
    return false;
  }

  async finish(index: number, outcome: Outcome): Promise<void> {
    const [call] = this.#running.splice(index % this.running, 1);
    if (!call) return;
    this.watch.outcomes.set(call.request, outcome);
    this.watch.probing.delete(call.request);
    this.#remember(call, outcome);
    await this.world.clock.until(call.permit.report(outcome));
  }

  async advance(ms: number): Promise<void> {
    if (this.world.weather !== 'fine') this.#troubledAtMs = this.world.clock.now() + ms;
    await this.world.clock.advance(ms);
    for (const [request, probe] of this.watch.probing) {
      if (this.#troubledAtMs >= probe.sinceMs - CALM_MS) continue;
      if (this.world.clock.now() - probe.sinceMs >= RENEWED_AT_MOST_MS) continue;
      expect(probe.leaseUntilMs, `${request} is alive but lost its lease`).toBeGreaterThan(this.world.clock.now());
    }
  }

  turn(weather: Weather): void {
    if (weather !== 'fine' || this.world.weather !== 'fine') this.#troubledAtMs = this.world.clock.now();
    this.world.weather = weather;
  }

  /** Kills a process and its calls, and starts a new process that replaces it. */
  die(index: number): void {
    this.#at(index).dead = true;
    for (const { process, request } of this.#running) if (process === index) this.watch.probing.delete(request);
    this.#running = this.#running.filter(({ process }) => process !== index);
    this.#processes[index] = this.world.start(this.watch.store());
    this.#streaks[index] = { accounts: [], mayBeBarred: new Set() };
  }

  /**
   * Lets the provider recover, waits longer than the longest open time, and expects successful calls to close every
   * circuit.
   */
  async recover(): Promise<void> {
    this.check();
    this.turn('fine');
    while (this.running > 0) await this.finish(0, 'unknown');
    await this.advance(330_000);
    for (let round = 0; round < 6; round += 1) {
      for (const process of [0, 1, 2]) await this.call(process, 'c', 'succeeded');
      await this.advance(KNOWN_FOR_MS);
    }
    this.check();
    expect(this.world.state).toBeUndefined();
    for (const process of [0, 1, 2]) {
      for (const account of ['a', 'b', 'c']) for (const _ of '123') await this.call(process, account, 'succeeded');
      for (const account of ['a', 'b', 'c']) expect(await this.begin(process, account)).toBe(true);
    }
  }

  /** Expects that no store call broke a rule. */
  check(): void {
    expect(this.watch.violations).toEqual([]);
  }

  #at(index: number): WorldProcess {
    const process = this.#processes[index];
    if (!process) throw new Error(`no process ${index}`);
    return process;
  }

  #mayPass(request: string): void {
    const { state, clock } = this.world;
    if (!state || this.watch.probing.has(request) || this.#isTroubled()) return;
    expect(clock.now() - this.watch.openedAtMs, `${request} passed a circuit known to be open`).toBeLessThanOrEqual(
      KNOWN_FOR_MS,
    );
  }

  #mayBar(index: number, account: string, rejection: CallRejection): void {
    expect(rejection.kind).toBe('open');
    if (rejection.kind === 'open') {
      expect(rejection.retryAfterSeconds).toBeGreaterThanOrEqual(1);
      expect(rejection.retryAfterSeconds).toBeLessThanOrEqual(300);
    }
    const { state, clock } = this.world;
    const mayBeBarred = this.#streaks[index]?.mayBeBarred;
    const locally = mayBeBarred?.has('*') || mayBeBarred?.has(account);
    const isShared = state !== undefined || clock.now() - this.watch.closedAtMs <= KNOWN_FOR_MS;
    const isDoubted = this.#isTroubled() && this.watch.seen.opened > 0;
    expect(locally || isShared || isDoubted, `${account} was rejected in process ${index} without a reason`).toBe(true);
  }

  #isTroubled(): boolean {
    return this.world.weather !== 'fine' || this.world.clock.now() - this.#troubledAtMs <= CALM_MS;
  }

  #remember({ process, account }: Running, outcome: Outcome): void {
    const streak = this.#streaks[process];
    if (!streak || outcome === 'unknown') return;
    // Only three accounts take part, so their timeouts disable the model for no other account.
    if (outcome === 'timed_out') return void streak.mayBeBarred.add(account);
    streak.accounts = outcome === 'failed' ? [...streak.accounts, account] : [];
    if (streak.accounts.length < 5) return;
    streak.mayBeBarred.add(new Set(streak.accounts).size > 1 ? '*' : account);
  }
}
