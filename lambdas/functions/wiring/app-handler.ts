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
import type { Parts } from './dependencies.ts';
import { toHttpPorts } from './http.ts';

export const createAppHandler = (parts: Parts) => {
  const accountIdOf = createAccountIdOf(parts.accounts);
  const ports = { ...parts, accountIdOf };
  return createHandler(toHttpPorts(parts), {
    getAppAccount: createGetAppAccount(ports),
    listAppUsage: createListUsage(parts, accountIdOf),
    getAppSpend: createGetAppSpend(ports),
    setThreshold: createSetThreshold(ports),
    rotateKey: createRotateKey(ports),
    creditAccount: createCreditAccount({ ...parts, store: parts.ledgerStore }),
  });
};
