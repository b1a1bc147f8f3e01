import type { AccountStore } from '../../../lambdas/core/accounts/account-store.ts';
import type { KeyStore } from '../../../lambdas/core/accounts/key-store.ts';
import type { ClaimStore, ResponseStore } from '../../../lambdas/core/idempotency/claim-store.ts';
import type { MediaStore } from '../../../lambdas/core/images/media.ts';
import type { LedgerStore, Outbox } from '../../../lambdas/core/ledger/ledger.ts';
import type { VideoFiles, VideoWorkflow } from '../../../lambdas/core/videos/dependencies.ts';
import type { VideoJobStore } from '../../../lambdas/core/videos/video-job.ts';

/** Wraps every call to a port. */
export type Through<Method extends string> = <T>(method: Method, call: () => Promise<T>) => Promise<T>;

type Method = (...args: unknown[]) => Promise<unknown>;

/** Returns the port as a plain object that calls each asynchronous method through `around`. */
export const through = <Port extends object>(around: Through<keyof Port & string>, port: Port): Port => {
  const made = Object.create(null);
  for (const method of methodsOf(port)) {
    made[method] = (...args: unknown[]) => around(method, () => methodOf(port, method).apply(port, args));
  }
  return made;
};

const methodOf = (port: object, name: string): Method => Reflect.get(port, name);

const methodsOf = <Port extends object>(port: Port): readonly (keyof Port & string)[] => {
  const names = new Set<string>();
  for (let level: object = port; level !== Object.prototype && level !== null; level = Object.getPrototypeOf(level))
    for (const name of Object.getOwnPropertyNames(level)) names.add(name);
  const isMethod = (name: string): name is keyof Port & string =>
    name !== 'constructor' && typeof methodOf(port, name) === 'function';
  return [...names].filter(isMethod);
};

export const ledgerThrough = through<LedgerStore>;
export const outboxThrough = through<Outbox>;
export const claimsThrough = through<ClaimStore>;
export const answersThrough = through<ResponseStore>;
export const jobsThrough = through<VideoJobStore>;
export const filesThrough = through<VideoFiles>;
export const mediaThrough = through<MediaStore>;
export const machineThrough = through<VideoWorkflow>;
export const accountsThrough = through<AccountStore>;
export const keysThrough = through<KeyStore>;
