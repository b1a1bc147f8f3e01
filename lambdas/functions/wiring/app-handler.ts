import { createHandler } from '../../http/handler.ts';
import { createListUsage } from '../../protocols/account/handlers.ts';
import {
  createAccountIdOf,
  createGetAppAccount,
  createRotateKey,
  createSetThreshold,
} from '../../protocols/app/account.ts';
import { createGetAppSpend } from '../../protocols/app/spend.ts';
import { createCreditAccount } from '../../protocols/credits/handler.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { toHttpDependencies } from './http.ts';

export const createAppHandler = (deps: FunctionDependencies) => {
  const accountIdOf = createAccountIdOf(deps.accounts);
  const dependencies = { ...deps, accountIdOf };
  return createHandler(toHttpDependencies(deps), {
    getAppAccount: createGetAppAccount(dependencies),
    listAppUsage: createListUsage(deps, accountIdOf),
    getAppSpend: createGetAppSpend(dependencies),
    setThreshold: createSetThreshold(dependencies),
    rotateKey: createRotateKey(dependencies),
    creditAccount: createCreditAccount({ ...deps, store: deps.ledgerStore, records: deps.ledgerRecords }),
  });
};
