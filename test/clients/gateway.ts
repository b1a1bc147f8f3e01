import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { inherited, spawnLocal, until } from '../support/gateway-process.ts';
import { unlimited } from '../support/in-process-gateway.ts';
import { runCommand } from './run-command.ts';

export interface Gateway {
  readonly url: string;
  /** Opens an account with this balance. Returns its key. */
  openAccount(account: string, balanceUsd: string): Promise<string>;
  /** Waits until no hold is open, and returns the balance in pico-USD. */
  settledBalance(key: string): Promise<bigint>;
  /** Charge of a request in pico-USD. Undefined without a receipt. */
  chargeOf(key: string, requestId: string): Promise<bigint | undefined>;
  output(): string;
  stop(): Promise<void>;
}

const COMMAND_LIMIT_MS = 60_000;
const root = join(import.meta.dirname, '../..');

const keySchema = z.object({ key: z.string() });
const accountSchema = z.object({ balance_usd: z.string(), open_holds: z.int() });
const receiptSchema = z.object({ outcome: z.string(), cost_usd: z.string().nullish() });

/** The program of `npm start` with simulated providers, on a free port and in a temporary folder. */
export const startGateway = async (): Promise<Gateway> => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-clients-'));
  const environment = { DATA_DIR: folder, LOCAL_BALANCE_USD: '0', ...unlimited };
  const local = spawnLocal(environment);
  const output = (): string => `${local.stdout()}${local.stderr()}`;
  const stop = async (): Promise<void> => {
    local.kill('SIGKILL');
    await local.end;
    rmSync(folder, { recursive: true, force: true });
  };
  const ready = until('the gateway', () => {
    if (local.ended() !== undefined) throw new Error(`bin/local.ts ended: ${output()}`);
    return /^ready (http:\S+)$/m.exec(local.stdout())?.[1];
  });
  const url = await ready.catch(async (error: unknown) => {
    await stop();
    throw error;
  });

  const cli = async (...args: readonly string[]): Promise<unknown> => {
    const command = [
      process.execPath,
      join(root, 'bin/cli.ts'),
      ...args,
      '--reason',
      'client suite',
      '--yes',
      '--json',
    ];
    const env = { ...inherited(), ...environment };
    const { code, stdout, stderr } = await runCommand(command, { cwd: root, env, limitMs: COMMAND_LIMIT_MS });
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return JSON.parse(stdout);
  };
  const read = async (path: string, key: string): Promise<Response> =>
    fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });

  return {
    url,
    openAccount: async (account, balanceUsd) => {
      const { key } = keySchema.parse(await cli('keys', 'issue', account, '--create'));
      await cli('accounts', 'credit', account, '--amount', balanceUsd, '--ref', 'first');
      return key;
    },
    settledBalance: (key) =>
      until('the end of every hold', async () => {
        const account = accountSchema.parse(await (await read('/api/account', key)).json());
        return account.open_holds === 0 ? parseUsd(account.balance_usd) : undefined;
      }),
    chargeOf: async (key, requestId) => {
      const response = await read(`/api/usage/${requestId}`, key);
      if (!response.ok) return undefined;
      const { outcome, cost_usd: cost } = receiptSchema.parse(await response.json());
      return outcome === 'charged' ? parseUsd(cost ?? '0') : 0n;
    },
    output,
    stop,
  };
};
