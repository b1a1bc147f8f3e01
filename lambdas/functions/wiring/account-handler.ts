import { createHandler } from '../../http/handler.ts';
import { createGetUsageSummary } from '../../protocols/account/get-usage-summary.ts';
import {
  createGetAccount,
  createGetStatement,
  createGetUsage,
  createListUsage,
} from '../../protocols/account/handlers.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { toHttpDependencies } from './http.ts';

export const createAccountHandler = (deps: FunctionDependencies) =>
  createHandler(toHttpDependencies(deps), {
    getAccount: createGetAccount((accountId) => deps.ledgerStore.readAccount(accountId)),
    listUsage: createListUsage(deps),
    getUsageSummary: createGetUsageSummary({ ...deps, store: deps.ledgerStore, records: deps.ledgerRecords }),
    getUsage: createGetUsage(deps),
    getStatement: createGetStatement({ ...deps, store: deps.ledgerStore, records: deps.ledgerRecords }),
  });
