import { createRecentSpend } from '../../core/ledger/recent-spend.ts';
import { createHandler } from '../../http/handler.ts';
import { createGetUsageSummary } from '../../protocols/account/get-usage-summary.ts';
import {
  createGetAccount,
  createGetStatement,
  createGetUsage,
  createListUsage,
} from '../../protocols/account/handlers.ts';
import {
  createCreateKey,
  createDeleteKey,
  createEditKey,
  createGetKey,
  createListKeys,
} from '../../protocols/keys/handlers.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { toHttpDependencies } from './http.ts';

export const createAccountHandler = (deps: FunctionDependencies) => {
  const http = toHttpDependencies(deps);
  const usage = { ...deps, store: deps.ledgerStore, records: deps.ledgerRecords };
  const keys = {
    ...deps,
    keyBucket: http.admission.keyBucket,
    spentByKey: createRecentSpend(usage),
  };
  return createHandler(http, {
    listKeys: createListKeys(keys),
    createKey: createCreateKey(keys),
    getKey: createGetKey(keys),
    editKey: createEditKey(keys),
    deleteKey: createDeleteKey(keys),
    getAccount: createGetAccount((accountId) => deps.ledgerStore.readAccount(accountId)),
    listUsage: createListUsage(deps),
    getUsageSummary: createGetUsageSummary(usage),
    getUsage: createGetUsage(deps),
    getStatement: createGetStatement(usage),
  });
};
