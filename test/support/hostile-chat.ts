import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeApiKey } from '../../lambdas/core/accounts/api-key.ts';
import { toNewKey } from '../../lambdas/core/accounts/new-key.ts';
import { createClients } from '../../lambdas/functions/wiring/dynamodb-clients.ts';
import { createAccountStore } from '../../lambdas/stores/dynamodb/account-store.ts';
import { localTableNames } from '../../lib/local/create-tables.ts';
import { runningDynamodb } from '../../lib/local/dynamodb-stand-in.ts';

/** An account of a chat, in the database of a program that runs. */
export const openAccountOf = async ({ folder }: { readonly folder: string }, chatId: number): Promise<string> => {
  const endpoint = runningDynamodb(folder);
  if (endpoint === undefined) throw new Error('the program has no database of its own');
  const pepper = readFileSync(join(folder, 'secrets', 'pepper'), 'utf8').trim();
  const clients = createClients({ endpoint, region: 'us-east-1' });
  const apiKey = makeApiKey(randomBytes(32));
  const key = toNewKey(pepper, apiKey, true);
  const account = { accountId: `of-chat-${chatId}`, chatId: String(chatId), key, creditPicos: 0n, atMs: Date.now() };
  await createAccountStore(clients.repeating, localTableNames).open(account);
  for (const client of [clients.once, clients.repeating]) client.destroy();
  return apiKey;
};
