import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { ask } from './hostile-wire.ts';

const accountBody = z.object({ id: z.string(), balance_usd: z.string(), held_usd: z.string(), open_holds: z.int() });

export interface SeenAccount {
  readonly id: string;
  /** Balance in pico-USD, like `held`. */
  readonly balance: bigint;
  readonly held: bigint;
  readonly openHolds: number;
}

/** Reads an account through the API, as its owner does. */
export const readAccount = async (port: number, apiKey: string): Promise<SeenAccount> => {
  const reply = await ask(port, { target: '/api/account', headers: [`authorization: Bearer ${apiKey}`] }, 30_000);
  const { id, balance_usd, held_usd, open_holds } = accountBody.parse(JSON.parse(reply.body));
  return { id, balance: parseUsd(balance_usd), held: parseUsd(held_usd), openHolds: open_holds };
};

/** Reads the pepper that the program in this data folder hashes API keys with. */
export const readPepper = (folder: string): string => readFileSync(join(folder, 'secrets', 'pepper'), 'utf8').trim();
