import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import {
  chargeVideo,
  finishVideo,
  notifyVideo,
  releaseVideo,
  storeVideo,
} from '../../../../lambdas/core/videos/finish-video.ts';
import { pollVideo } from '../../../../lambdas/core/videos/poll-video.ts';
import { isEnded } from '../../../../lambdas/core/videos/video-job.ts';
import { readDefinition, toSubstitutions } from '../../../../lib/video/definition.ts';
import { Choices } from '../../../support/memory/interleaved-store.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryAnswerStore } from '../../../support/memory/memory-answer-store.ts';
import { MemoryClaimStore } from '../../../support/memory/memory-claim-store.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { MemoryOutbox } from '../../../support/memory/memory-outbox.ts';
import { MemoryVideoFiles } from '../../../support/memory/memory-video-files.ts';
import { MemoryVideoJobs } from '../../../support/memory/memory-video-jobs.ts';
import { VideoExecutions } from './video-executions.ts';
import { VideoJudge } from './video-judge.ts';
import { VideoProcess } from './video-process.ts';
import { ACCOUNT, type Got, NOW } from './video-samples.ts';
import { VideoTraffic } from './video-traffic.ts';
import { type VendorPlan, VideoVendor } from './video-vendor.ts';

export const definition = readDefinition(
  toSubstitutions({
    stepFunctionArn: 'arn:aws:lambda:eu-central-1:123456789012:function:steps',
    settings: {
      VIDEO_POLL_SECONDS: 60,
      VIDEO_LIMIT_SECONDS: 3_600,
      VIDEO_HOLD_SECONDS: 7_200,
      VIDEO_RETRY_SECONDS: 2,
      VIDEO_WEBHOOK_RETRY_SECONDS: 10,
    },
  }),
);

const ALONE = 'request-alone';
const KEYED = ['request-a', 'request-b', 'request-c', 'request-d', 'request-e'];
/**
 * Delays before a client sends its request, in minutes: none, a lease, the time in which a provider must accept, an
 * hour.
 */
const delays = [0, 0, 1.1, 1.1, 2.5, 2.5, 5, 70];
/** Approximate number of calls in a creation. */
const CALLS = 10;
const MINUTE_MS = 60_000;
/** Steps by which time passes, in ms: a retry, a lease, a poll, a hold. */
const passing = [1_000, 1_000, 1_000, 20_000, 61_000, 61_000, 5 * MINUTE_MS, 40 * MINUTE_MS];
const ROUNDS_MAX = 60;

const steps = {
  poll: pollVideo,
  store: storeVideo,
  charge: chargeVideo,
  finish: finishVideo,
  release: releaseVideo,
  notify: notifyVideo,
};

const isStep = (name: string): name is keyof typeof steps => name in steps;

type Work = (process: VideoProcess) => Promise<unknown>;

/**
 * One random history of several videos: clients, executions, sweepers and providers run concurrently, and their calls
 * fail.
 */
export class VideoHistory {
  /** Response to each client. A client whose process died has no entry. */
  readonly told = new Map<string, Got>();
  readonly #clock = new ManualClock(NOW);
  readonly #ledger = new MemoryLedgerStore();
  readonly #files = new MemoryVideoFiles();
  readonly #judge = new VideoJudge(this.#ledger, this.#files);
  readonly #jobs = new MemoryVideoJobs((...write) => this.#judge.watch(...write));
  readonly #claims = new MemoryClaimStore();
  readonly #answers = new MemoryAnswerStore();
  readonly #outbox = new MemoryOutbox();
  readonly #executions: VideoExecutions;
  readonly #vendor: VideoVendor;
  readonly #choices: Choices;
  readonly #traffic: VideoTraffic;
  readonly #waiting: { readonly name: string; readonly work: Work }[];
  readonly #processes = new Set<string>();
  readonly #deleted = new Set<string>();
  readonly #notices: string[] = [];
  #healed = false;
  #calls = 0;

  constructor(numbers: readonly number[], plans: readonly VendorPlan[]) {
    this.#choices = new Choices(numbers);
    this.#traffic = new VideoTraffic(this.#choices);
    this.#vendor = new VideoVendor(plans, this.#traffic);
    this.#executions = new VideoExecutions({
      clock: this.#clock,
      definition,
      random: () => this.#choices.next(3) / 3,
      invoke: (step, videoId) => this.#invoke(step, videoId),
      died: (videoId) => this.#callRule(videoId),
      mistake: (error) => this.#note('an execution', error),
    });
    const create = (name: string, key?: string) => ({
      name,
      work: (process: VideoProcess) => this.#create(process, name, key),
    });
    this.#waiting = [
      create(ALONE),
      ...KEYED.map((name) => create(name, 'key-1')),
      ...['sweep-1', 'sweep-2'].map((name) => ({ name, work: this.#again(30, (process) => process.sweep()) })),
      ...['resume-1', 'resume-2'].map((name) => ({ name, work: this.#again(15, (process) => process.resume()) })),
      ...['delete-1', 'delete-2'].map((name) => ({ name, work: this.#again(20, (process) => this.#delete(process)) })),
    ];
  }

  /**
   * Plays the history to its end, ends all faults, runs everything that was delayed, waits until nothing runs, and
   * judges.
   */
  async play(): Promise<void> {
    await this.#ledger.createAccount(ACCOUNT, 0);
    const amountPicos = parseUsd('5');
    await this.#ledger.credit({ accountId: ACCOUNT, ref: 'first', amountPicos, reason: 'test', at: NOW });
    while (await this.#goOn());
    this.#healed = true;
    this.#traffic.heal();
    for (let round = 0; round < ROUNDS_MAX && (round < 2 || !(await this.#isQuiet())); round += 1) {
      this.#start(`sweep-late-${round}`, (process) => process.sweep());
      this.#start(`resume-late-${round}`, (process) => process.resume());
      await this.#rest();
    }
    const { told } = this;
    const [clock, jobs, idempotent, asked, deleted] = [
      this.#clock,
      this.#jobs,
      KEYED,
      this.#vendor.asked,
      this.#deleted,
    ];
    await this.#judge.judge({ clock, jobs, told, idempotent, asked, deleted });
  }

  /** Returns what happened in this history, for counting. */
  met(): readonly string[] {
    const jobs = [...this.#judge.seen.values()].map(({ state, refused }) => (refused ? 'refused' : state));
    const told = [...this.told].map(([requestId, { status, body }]) => {
      if (status !== 200) return `received ${body}`;
      return body.includes(requestId) ? 'received its own video' : 'received the video of another request';
    });
    const records = this.#ledger.recordsOf(ACCOUNT).map(({ reason }) => `released ${reason}`);
    return [...jobs, ...told, ...records, ...this.#notices];
  }

  /**
   * Runs one step: usually a call, sometimes the start, death, sleep or wake-up of a process, or passing time. Returns
   * false when nothing is left.
   */
  async #goOn(): Promise<boolean> {
    await this.#clock.flush();
    const kind = this.#choices.next(80);
    const waiting = this.#traffic.waiting;
    if (kind < 60 && waiting > 0) await this.#traffic.run(this.#choices.next(waiting));
    else if (kind >= 67 && kind < 72) await this.#clock.advance(passing[this.#choices.next(passing.length)] ?? 0);
    else if (kind >= 72) this.#disturb(kind);
    else if (this.#waiting.length > 0) this.#startNext();
    else if (waiting > 0) await this.#traffic.run(0);
    else if (this.#clock.waiting > 0) await this.#clock.advance(MINUTE_MS / 2);
    else return false;
    return true;
  }

  #disturb(kind: number): void {
    if (kind === 79) this.#traffic.kill(this.#anyOf([...this.#processes]));
    else if (kind >= 77) this.#traffic.sleep(this.#anyOf([...this.#processes]));
    else if (kind >= 75) this.#traffic.wake(this.#anyOf(this.#traffic.sleepers()));
    else if (kind === 74) this.#executions.abort(this.#anyOf(this.#executions.running()));
    else this.#traffic.cutOff(this.#anyOf([...this.#processes]), 4 * (1 + this.#choices.next(3)));
  }

  #anyOf(names: readonly string[]): string {
    return names[this.#choices.next(Math.max(1, names.length))] ?? 'none';
  }

  #startNext(): void {
    const [next] = this.#waiting.splice(this.#choices.next(this.#waiting.length), 1);
    if (next) this.#start(next.name, next.work);
  }

  #start(name: string, work: Work): void {
    this.#processes.add(name);
    work(new VideoProcess(this.#outside(), name))
      .catch((error: unknown) => this.#note(name, error))
      .finally(() => this.#processes.delete(name));
  }

  /** Records a violation for every error that is not the fault of a store or a provider. */
  #note(who: string, error: unknown): void {
    if (error instanceof StoreError || error instanceof GatewayError) return;
    this.#judge.violations.push(`${who}: ${error instanceof Error ? error.stack : String(error)}`);
  }

  /** Lets ten minutes pass without faults. */
  async #rest(): Promise<void> {
    for (let minute = 0; minute < 10; minute += 1) {
      await this.#clock.flush();
      for (let left = 3_000; this.#traffic.waiting > 0 && left > 0; left -= 1) {
        await this.#traffic.run(0);
        await this.#clock.flush();
      }
      await this.#clock.advance(MINUTE_MS);
    }
  }

  async #isQuiet(): Promise<boolean> {
    const account = await this.#ledger.readAccount(ACCOUNT);
    const isOver = this.#jobs.jobs().every(isEnded) && account?.holds.size === 0;
    return isOver && this.#executions.running().length === 0 && this.#clock.waiting === 0;
  }

  #outside() {
    return {
      clock: this.#clock,
      traffic: this.#traffic,
      vendor: this.#vendor,
      machine: this.#executions,
      ledger: this.#ledger,
      outbox: this.#outbox,
      jobs: this.#jobs,
      files: this.#files,
      claims: this.#claims,
      answers: this.#answers,
      notice: (notice: string) => void this.#notices.push(notice),
      random: () => {
        this.#calls += 1;
        return (this.#calls * 0.618) % 1;
      },
    };
  }

  /** Repeats the work five times, this many minutes apart, even if it fails. */
  #again(minutes: number, work: Work): Work {
    return async (process) => {
      for (let round = 0; round < 5; round += 1) {
        await work(process).catch((error: unknown) => this.#note('a round', error));
        await process.sleep(minutes);
      }
    };
  }

  async #create(process: VideoProcess, name: string, key: string | undefined): Promise<void> {
    await process.sleep(delays[this.#choices.next(delays.length)] ?? 0);
    if (this.#choices.next(2) === 1) this.#traffic.sleepAt(name, 1 + this.#choices.next(CALLS));
    this.told.set(name, await process.create(key));
  }

  /** Removes some of the ended videos, as a client. */
  async #delete(process: VideoProcess): Promise<void> {
    for (const { id } of this.#jobs.jobs().filter(isEnded)) {
      if (this.#choices.next(2) === 0) continue;
      this.#deleted.add(id);
      await process.remove(id);
    }
  }

  /**
   * Simulates the EventBridge rule for executions that failed or were stopped. The rule starts the release once, twice
   * or not at all.
   */
  #callRule(videoId: string): void {
    const calls = this.#healed ? 1 : [1, 2, 0][this.#choices.next(3)];
    for (let call = 0; call < (calls ?? 1); call += 1) {
      this.#calls += 1;
      this.#start(`rule-${this.#calls}`, (process) => releaseVideo(process.deps(), videoId));
    }
  }

  /**
   * Invokes a step. It works, fails before it starts, loses its reply, runs twice concurrently, dies at some call, or
   * loses its execution.
   */
  async #invoke(step: string, videoId: string): Promise<unknown> {
    const fate = this.#healed ? 0 : this.#choices.next(12);
    if (fate === 11) throw new Error('Lambda.ServiceException');
    if (fate === 7 && step !== 'poll') this.#executions.abort(videoId);
    const dies = fate === 8 ? 1 + this.#choices.next(6) : undefined;
    if (fate === 9) return Promise.any([this.#perform(step, videoId), this.#perform(step, videoId)]);
    const result = await this.#perform(step, videoId, dies);
    if (fate === 10) throw new Error('Lambda.Unknown');
    return result;
  }

  #perform(step: string, videoId: string, diesAtCall?: number): Promise<unknown> {
    this.#calls += 1;
    const name = `${step}-${this.#calls}`;
    return new Promise((resolve, reject) => {
      if (diesAtCall) this.#traffic.killAt(name, diesAtCall, () => reject(new Error('Lambda.Unknown')));
      this.#start(name, async (process) => {
        if (!isStep(step)) throw new Error(`there is no step ${step}`);
        const done = steps[step](process.deps(), videoId);
        done.then(resolve, reject);
        await done;
      });
    });
  }
}
