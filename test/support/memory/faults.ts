import type { AccountStore } from '../../../lambdas/core/accounts/account-store.ts';
import type { KeyStore } from '../../../lambdas/core/accounts/key-store.ts';
import { StoreError } from '../../../lambdas/core/errors/store-error.ts';
import type { ClaimStore, ResponseStore } from '../../../lambdas/core/idempotency/claim-store.ts';
import type { MediaStore } from '../../../lambdas/core/images/media.ts';
import type { LedgerStore, Outbox } from '../../../lambdas/core/ledger/ledger.ts';
import type { LedgerRecords } from '../../../lambdas/core/ledger/records.ts';
import type { AddressCounters } from '../../../lambdas/core/limits/rate-limit.ts';
import type { VideoFiles, VideoWorkflow } from '../../../lambdas/core/videos/dependencies.ts';
import type { VideoJobStore } from '../../../lambdas/core/videos/video-job.ts';
import { through } from './every-call.ts';

/** Fault of one call to a store. */
export type Fault =
  /** Nothing is written: the call fails, is throttled, or conflicts with another write. */
  | { readonly kind: 'fails' | 'throttled' | 'conflict' }
  /** The write happens, but the caller gets no reply. */
  | { readonly kind: 'loses-reply' }
  /** The call is neither executed nor answered before `until`. */
  | { readonly kind: 'delayed'; readonly until: Promise<void> }
  /** The caller immediately gets an error without a reply. The write happens at `until`. */
  | { readonly kind: 'lands-late'; readonly until: Promise<void> }
  /** The write happens and is answered. The same request is executed again at `until`. */
  | { readonly kind: 'repeated'; readonly until: Promise<void> };

/** Returns the fault of a call. `turn` counts the calls of this method from 0. */
export type FaultPlan<Method extends string> = (method: Method, turn: number) => Fault | undefined;

export interface Faulty {
  /** Names of the methods called so far, in order. */
  readonly calls: readonly string[];
  /** Resolves when every late or repeated call has been executed. */
  landed(): Promise<void>;
}

export const fails = { kind: 'fails' } as const;
export const throttled = { kind: 'throttled' } as const;
export const conflict = { kind: 'conflict' } as const;
export const losesReply = { kind: 'loses-reply' } as const;

/** Returns a promise and the function that resolves it. */
export const createMoment = (): { readonly until: Promise<void>; readonly come: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { until: promise, come: resolve };
};

/**
 * The n-th fault applies to the n-th call of a method, and later calls succeed. A single fault applies to every call.
 */
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

/** Returns the port with planned faults. */
const faulty = <Port extends object>(port: Port, faults: Faults<keyof Port & string>): Port & Faulty => {
  const injector = new Injector(faults);
  return {
    ...through((method, call) => injector.run(method, call), port),
    calls: injector.calls,
    landed: () => injector.landed(),
  };
};

export const withFaults = faulty<LedgerStore>;
export const withKeyFaults = faulty<KeyStore>;
export const withCounterFaults = faulty<AddressCounters>;
export const withOutboxFaults = faulty<Outbox>;
export const withClaimFaults = faulty<ClaimStore>;
export const withAnswerFaults = faulty<ResponseStore>;
export const withJobFaults = faulty<VideoJobStore>;
/** Does not support `repeated` for a put, whose bytes can be read only once. */
export const withFileFaults = faulty<VideoFiles>;
export const withMediaFaults = faulty<MediaStore>;
export const withMachineFaults = faulty<VideoWorkflow>;
export const withAccountFaults = faulty<AccountStore>;

export interface AccountsAndKeys {
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
}

/** Puts both stores under one plan. `calls` has the calls of both in their order. */
export const withAccountAndKeyFaults = (
  { accounts, keys }: AccountsAndKeys,
  faults: Faults<keyof AccountStore | keyof KeyStore>,
): AccountsAndKeys & Faulty => {
  const injector = new Injector(faults);
  return {
    accounts: through((method, call) => injector.run(method, call), accounts),
    keys: through((method, call) => injector.run(method, call), keys),
    calls: injector.calls,
    landed: () => injector.landed(),
  };
};

export const withRecordFaults = (
  records: LedgerRecords,
  faults: Faults<keyof LedgerRecords>,
): LedgerRecords & Faulty => {
  const injector = new Injector(faults);
  return {
    ...through((method, call) => injector.run(method, call), records),
    calls: injector.calls,
    landed: () => injector.landed(),
    async *accountPlaces(after) {
      yield* await injector.run('accountPlaces', async () => records.accountPlaces(after));
    },
  };
};
