import type { AccountStore } from '../../../lambdas/core/accounts/account-store.ts';
import type { KeyStore } from '../../../lambdas/core/accounts/key-store.ts';
import { StoreError } from '../../../lambdas/core/errors/store-error.ts';
import type { AnswerStore, ClaimStore } from '../../../lambdas/core/idempotency/claim-store.ts';
import type { MediaStore } from '../../../lambdas/core/images/media-store.ts';
import type { LedgerRecords } from '../../../lambdas/core/ledger/ledger-records.ts';
import type { LedgerStore } from '../../../lambdas/core/ledger/ledger-store.ts';
import type { Outbox } from '../../../lambdas/core/ledger/outbox.ts';
import type { AddressCounters } from '../../../lambdas/core/limits/address-limit.ts';
import type { VideoJobStore } from '../../../lambdas/core/videos/job-store.ts';
import type { VideoFiles } from '../../../lambdas/core/videos/video-files.ts';
import type { VideoMachine } from '../../../lambdas/core/videos/video-machine.ts';
import {
  accountsThrough,
  answersThrough,
  claimsThrough,
  filesThrough,
  jobsThrough,
  ledgerThrough,
  machineThrough,
  mediaThrough,
  outboxThrough,
} from './every-call.ts';

/** What goes wrong with one call to a store. */
export type Fault =
  /** Nothing was written: no connection, refused, or another write was in the way. */
  | { readonly kind: 'fails' | 'throttled' | 'conflict' }
  /** Written, but the caller is told that no answer came. */
  | { readonly kind: 'loses-reply' }
  /** Neither written nor answered before `until`. */
  | { readonly kind: 'delayed'; readonly until: Promise<void> }
  /** The caller is told at once that no answer came; the write itself happens at `until`. */
  | { readonly kind: 'lands-late'; readonly until: Promise<void> }
  /** Written and answered, and the same request executed once more at `until`. */
  | { readonly kind: 'repeated'; readonly until: Promise<void> };

/** Asked at every call; `turn` counts the calls of this method from 0. */
export type FaultPlan<Method extends string> = (method: Method, turn: number) => Fault | undefined;

export interface Faulty {
  /** The methods called so far, in order. */
  readonly calls: readonly string[];
  /** Resolves when every call that was let loose has been executed. */
  landed(): Promise<void>;
}

export const fails = { kind: 'fails' } as const;
export const throttled = { kind: 'throttled' } as const;
export const conflict = { kind: 'conflict' } as const;
export const losesReply = { kind: 'loses-reply' } as const;

/** Something a test lets happen when it likes. */
export const createMoment = (): { readonly until: Promise<void>; readonly come: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { until: promise, come: resolve };
};

/** The n-th fault for the n-th call of a method, none after the end; a single fault holds for every call. */
export type FaultScript<Method extends string> = Readonly<
  Partial<Record<Method, readonly (Fault | undefined)[] | Fault>>
>;

const toPlan = <Method extends string>(faults: Faults<Method>): FaultPlan<Method> => {
  if (typeof faults === 'function') return faults;
  return (method, turn) => {
    const listed: readonly (Fault | undefined)[] | Fault | undefined = faults[method];
    return listed && 'kind' in listed ? listed : listed?.[turn];
  };
};

type Faults<Method extends string> = FaultPlan<Method> | FaultScript<Method>;

const noAnswer = (): StoreError => new StoreError('unavailable', 'no answer came');

class Injector<Method extends string> implements Faulty {
  readonly calls: string[] = [];
  readonly #plan: FaultPlan<Method>;
  readonly #loose: Promise<unknown>[] = [];

  constructor(faults: Faults<Method>) {
    this.#plan = toPlan(faults);
  }

  async landed(): Promise<void> {
    await Promise.allSettled(this.#loose);
  }

  async run<T>(method: Method, call: () => Promise<T>): Promise<T> {
    const turn = this.calls.filter((name) => name === method).length;
    this.calls.push(method);
    const fault = this.#plan(method, turn);
    if (!fault) return call();
    switch (fault.kind) {
      case 'fails':
        throw noAnswer();
      case 'throttled':
      case 'conflict':
        throw new StoreError(fault.kind, 'refused for a moment');
      case 'loses-reply':
        await call();
        throw noAnswer();
      case 'delayed':
        await fault.until;
        return call();
      case 'lands-late':
        this.#loose.push(fault.until.then(call));
        throw noAnswer();
      case 'repeated': {
        const reply = await call();
        this.#loose.push(fault.until.then(call));
        return reply;
      }
    }
  }
}

export type LedgerFaults = Faults<keyof LedgerStore>;

/** The same ledger store with things going wrong as planned. */
export const withFaults = (store: LedgerStore, faults: LedgerFaults): LedgerStore & Faulty => {
  const injector = new Injector(faults);
  return {
    calls: injector.calls,
    landed: () => injector.landed(),
    ...ledgerThrough((method, call) => injector.run(method, call), store),
  };
};

export const withRecordFaults = (
  records: LedgerRecords,
  faults: Faults<keyof LedgerRecords>,
): LedgerRecords & Faulty => {
  const injector = new Injector(faults);
  return {
    calls: injector.calls,
    landed: () => injector.landed(),
    listRecords: (accountId, range) => injector.run('listRecords', () => records.listRecords(accountId, range)),
    recordsOfRequest: (accountId, requestId) =>
      injector.run('recordsOfRequest', () => records.recordsOfRequest(accountId, requestId)),
    readCredits: (accountId) => injector.run('readCredits', () => records.readCredits(accountId)),
    async *accountPlaces(after) {
      yield* await injector.run('accountPlaces', async () => records.accountPlaces(after));
    },
  };
};

export const withKeyFaults = (keys: KeyStore, faults: Faults<keyof KeyStore>): KeyStore & Faulty => {
  const injector = new Injector(faults);
  return {
    calls: injector.calls,
    landed: () => injector.landed(),
    take: (hash, bucket, nowMicros) => injector.run('take', () => keys.take(hash, bucket, nowMicros)),
    read: (hash) => injector.run('read', () => keys.read(hash)),
  };
};

export const withCounterFaults = (counters: AddressCounters, faults: Faults<'take'>): AddressCounters & Faulty => {
  const injector = new Injector(faults);
  return {
    calls: injector.calls,
    landed: () => injector.landed(),
    take: (address, bucket, nowMicros) => injector.run('take', () => counters.take(address, bucket, nowMicros)),
  };
};

export const withOutboxFaults = (outbox: Outbox, faults: Faults<keyof Outbox>): Outbox & Faulty => {
  const injector = new Injector(faults);
  return {
    calls: injector.calls,
    landed: () => injector.landed(),
    ...outboxThrough((method, call) => injector.run(method, call), outbox),
  };
};

export const withClaimFaults = (claims: ClaimStore, faults: Faults<keyof ClaimStore>): ClaimStore & Faulty => {
  const injector = new Injector(faults);
  return {
    calls: injector.calls,
    landed: () => injector.landed(),
    ...claimsThrough((method, call) => injector.run(method, call), claims),
  };
};

export const withAnswerFaults = (answers: AnswerStore, faults: Faults<keyof AnswerStore>): AnswerStore & Faulty => {
  const injector = new Injector(faults);
  return {
    calls: injector.calls,
    landed: () => injector.landed(),
    ...answersThrough((method, call) => injector.run(method, call), answers),
  };
};

export const withJobFaults = (jobs: VideoJobStore, faults: Faults<keyof VideoJobStore>): VideoJobStore & Faulty => {
  const injector = new Injector(faults);
  return {
    calls: injector.calls,
    landed: () => injector.landed(),
    ...jobsThrough((method, call) => injector.run(method, call), jobs),
  };
};

/** Not for a put that is `repeated`: its bytes can be taken once only. */
export const withFileFaults = (files: VideoFiles, faults: Faults<keyof VideoFiles>): VideoFiles & Faulty => {
  const injector = new Injector(faults);
  return {
    calls: injector.calls,
    landed: () => injector.landed(),
    ...filesThrough((method, call) => injector.run(method, call), files),
  };
};

export const withMediaFaults = (media: MediaStore, faults: Faults<keyof MediaStore>): MediaStore & Faulty => {
  const injector = new Injector(faults);
  return {
    calls: injector.calls,
    landed: () => injector.landed(),
    ...mediaThrough((method, call) => injector.run(method, call), media),
  };
};

export const withMachineFaults = (machine: VideoMachine, faults: Faults<'start'>): VideoMachine & Faulty => {
  const injector = new Injector(faults);
  return {
    calls: injector.calls,
    landed: () => injector.landed(),
    ...machineThrough((method, call) => injector.run(method, call), machine),
  };
};

export const withAccountFaults = (
  accounts: AccountStore,
  faults: Faults<keyof AccountStore>,
): AccountStore & Faulty => {
  const injector = new Injector(faults);
  return {
    calls: injector.calls,
    landed: () => injector.landed(),
    ...accountsThrough((method, call) => injector.run(method, call), accounts),
  };
};
