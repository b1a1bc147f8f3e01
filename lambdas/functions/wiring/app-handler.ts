import { createRecentSpend } from '../../core/ledger/recent-spend.ts';
import { createHandler } from '../../http/handler.ts';
import { createGetUsageSummary } from '../../protocols/account/get-usage-summary.ts';
import { createListUsage } from '../../protocols/account/handlers.ts';
import {
  createAccountIdOf,
  createGetAppAccount,
  createRotateKey,
  createSetThreshold,
} from '../../protocols/app/account.ts';
import { createGetAppSpend } from '../../protocols/app/spend.ts';
import { createCreditAccount } from '../../protocols/credits/handler.ts';
import {
  createCreateKey,
  createDeleteKey,
  createEditKey,
  createGetKey,
  createListKeys,
  createOwnerOf,
} from '../../protocols/keys/handlers.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { toHttpDependencies } from './http.ts';

export const createAppHandler = (deps: FunctionDependencies) => {
  const http = toHttpDependencies(deps);
  const accountIdOf = createAccountIdOf(deps.accounts);
  const dependencies = { ...deps, accountIdOf, topUpText: deps.settings.TOP_UP_TEXT };
  const ledger = { ...deps, store: deps.ledgerStore, records: deps.ledgerRecords };
  const keys = { ...deps, keyBucket: http.admission.keyBucket, spentByKey: createRecentSpend(ledger) };
  const ownerOf = createOwnerOf(accountIdOf);
  return createHandler(http, {
    getAppAccount: createGetAppAccount(dependencies),
    listAppUsage: createListUsage(deps, accountIdOf),
    getAppUsageSummary: createGetUsageSummary(ledger, accountIdOf),
    getAppSpend: createGetAppSpend(dependencies),
    setThreshold: createSetThreshold(dependencies),
    rotateKey: createRotateKey(dependencies),
    listAppKeys: createListKeys(keys, ownerOf),
    createAppKey: createCreateKey(keys, ownerOf),
    getAppKey: createGetKey(keys, ownerOf),
    editAppKey: createEditKey(keys, ownerOf),
    deleteAppKey: createDeleteKey(keys, ownerOf),
    creditAccount: createCreditAccount(ledger),
  });
};
