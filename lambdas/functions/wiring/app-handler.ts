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
import { toHttpPorts } from './http.ts';

export const createAppHandler = (deps: FunctionDependencies) => {
  const accountIdOf = createAccountIdOf(deps.accounts);
  const ports = { ...deps, accountIdOf };
  return createHandler(toHttpPorts(deps), {
    getAppAccount: createGetAppAccount(ports),
    listAppUsage: createListUsage(deps, accountIdOf),
    getAppSpend: createGetAppSpend(ports),
    setThreshold: createSetThreshold(ports),
    rotateKey: createRotateKey(ports),
    creditAccount: createCreditAccount({ ...deps, store: deps.ledgerStore }),
  });
};
