import { createHandler } from '../../http/handler.ts';
import { createGetAccount, createGetUsage, createListUsage } from '../../protocols/account/handlers.ts';
import type { Parts } from './dependencies.ts';
import { toHttpPorts } from './http.ts';

export const createAccountHandler = (parts: Parts) =>
  createHandler(toHttpPorts(parts), {
    getAccount: createGetAccount((accountId) => parts.ledgerStore.readAccount(accountId)),
    listUsage: createListUsage(parts),
    getUsage: createGetUsage(parts),
  });
