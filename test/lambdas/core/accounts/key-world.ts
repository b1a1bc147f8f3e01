import {
  type AccountKeyDependencies,
  createAccountKey,
  deleteAccountKey,
  editAccountKey,
  type KeyTarget,
} from '../../../../lambdas/core/accounts/account-keys.ts';
import { admit } from '../../../../lambdas/core/accounts/admit.ts';
import type { Actor, KeyChange, NewKeyChange } from '../../../../lambdas/core/accounts/key-change.ts';
import { listAccountKeys, type SpentByKey } from '../../../../lambdas/core/accounts/key-list.ts';
import type { KeyStore } from '../../../../lambdas/core/accounts/key-store.ts';
import { hashApiKey, keyIdOf, makeApiKey } from '../../../../lambdas/core/accounts/keys.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { AddressLimit, bucketOf, ProcessBuckets } from '../../../../lambdas/core/limits/rate-limit.ts';
import { PICOS_PER_USD } from '../../../../lambdas/core/money/usd.ts';
import { accountNamed } from '../../../contracts/account-subjects.ts';
import { type FaultScript, withKeyFaults } from '../../../support/memory/faults.ts';
import { MemoryAddressCounters } from '../../../support/memory/memory-address-counters.ts';
import { accountWorld, PEPPER } from './account-world.ts';

export const ACCOUNT = 'one';
export const KEY_BUCKET = bucketOf(10, 15);

/** Models that a test catalog has, and an alias of the first. */
const models: Readonly<Record<string, string>> = { small: 'small', large: 'large', tiny: 'small' };

/** An account with a first key, whose keys are managed through the store in memory. */
export const keyWorld = async ({ faults = {} }: { faults?: FaultScript<keyof KeyStore> } = {}) => {
  const world = accountWorld();
  const { clock, keys: memory, accounts, ledger } = world;
  const firstKey = makeApiKey(new Uint8Array(32).fill(1));
  const firstHash = hashApiKey(PEPPER, firstKey);
  const account = accountNamed(ACCOUNT, { creditPicos: 100n * PICOS_PER_USD, atMs: clock.now() });
  await accounts.open({ ...account, key: { ...account.key, hash: firstHash } });
  const keys = withKeyFaults(memory, faults);
  let made = 10;
  const deps: AccountKeyDependencies & { readonly spentByKey?: SpentByKey } = {
    keys,
    ledgerStore: ledger,
    catalog: {
      find: (id) => (models[id] ? ({ id: models[id] } as never) : undefined),
      explainMissing: (id) => `The model "${id}" does not exist.`,
    },
    keyBucket: KEY_BUCKET,
    clock,
    random: () => 0,
    pepper: PEPPER,
    newKeyBytes: () => {
      made += 1;
      return new Uint8Array(32).fill(made);
    },
  };
  const first: Actor = { keyId: keyIdOf(firstHash) };
  const by = (actor: Actor) => ({ accountId: ACCOUNT, actor });
  const addresses = bucketOf(1_000_000, 1_000_000);
  const admission = {
    addressLimit: new AddressLimit(addresses, new MemoryAddressCounters(), clock),
    keyBucket: KEY_BUCKET,
    keyBuckets: new ProcessBuckets(KEY_BUCKET),
    records: ledger,
    keys: memory,
    pepper: PEPPER,
    olderPeppers: [],
    clock,
  };
  return {
    ...world,
    deps,
    calls: keys.calls,
    first,
    firstKey,
    firstHash,
    create: (wanted: NewKeyChange = { name: 'A' }, actor: Actor = first) =>
      clock.until(createAccountKey(deps, by(actor), wanted)),
    edit: (target: KeyTarget | string, wanted: KeyChange, actor: Actor = first) =>
      clock.until(editAccountKey(deps, by(actor), typeof target === 'string' ? { keyId: target } : target, wanted)),
    remove: (target: KeyTarget | string, actor: Actor = first) =>
      clock.until(deleteAccountKey(deps, by(actor), typeof target === 'string' ? { keyId: target } : target)),
    list: (actor: Actor = first, more: { readonly spentByKey?: SpentByKey } = {}) =>
      clock.until(listAccountKeys({ ...deps, ...more }, by(actor))),
    admit: (apiKey: string) =>
      admit(admission, 'address', { credential: apiKey, param: 'Authorization', advice: 'Send it.' }),
  };
};
export type KeyWorld = Awaited<ReturnType<typeof keyWorld>>;

/** Returns the code, the status and the field of the error that a call throws. */
export const refusalOf = async (pending: Promise<unknown>): Promise<readonly unknown[]> => {
  const error: unknown = await pending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GatewayError)) throw new Error(`expected a GatewayError, got ${String(error)}`);
  return [error.status, error.code, error.param];
};
