import { createHandler } from '../../http/handler.ts';
import { createGetAppAccount } from '../../protocols/app/account.ts';
import { createAccountIdOf } from '../../protocols/app/account-of-chat.ts';
import { createRotateKey } from '../../protocols/app/key.ts';
import { createGetAppSpend } from '../../protocols/app/spend.ts';
import { createSetThreshold } from '../../protocols/app/threshold.ts';
import { createCreditAccount } from '../../protocols/credits/handler.ts';
import { createListUsage } from '../../protocols/usage/handlers.ts';
import { toHttpPorts } from './http-ports.ts';
import type { Parts } from './parts.ts';

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
