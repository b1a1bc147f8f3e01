import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { stopOrphan } from '../../lib/local/child-process.ts';
import { type Environment, spawnLocal, until, within } from './gateway-process.ts';

export interface GatewayOptions {
  /** Where the vendors are played, without a path. */
  readonly vendorUrl: string;
  readonly environment?: Environment;
  /** Data to go on with; without it a new folder, which `stop` removes. */
  readonly folder?: string;
  readonly args?: readonly string[];
}

/** Amounts are pico-USD. */
export interface TestAccount {
  readonly balance: bigint;
  readonly available: bigint;
  readonly held: bigint;
  readonly openHolds: number;
}

export interface TestGateway {
  readonly pid: number;
  readonly url: string;
  readonly apiKey: string;
  readonly folder: string;
  account(): Promise<TestAccount>;
  /** The account once no money is held any more. */
  untilSettled(): Promise<TestAccount>;
  /** Everything the program has written. */
  output(): string;
  kill(signal: NodeJS.Signals): Promise<number | null>;
  stop(): Promise<void>;
}

/**
 * Limits far above what a test sends, for tests that are not about limits: a request may also come to the store late. Nor do
 * failures that are asked for open a circuit.
 */
export const unlimited: Environment = {
  LIMIT_ADDRESS_PER_SECOND: '1000',
  LIMIT_ADDRESS_BURST: '1000000',
  LIMIT_KEY_PER_SECOND: '1000',
  LIMIT_KEY_BURST: '1000000',
  CIRCUIT_FAILURES: '1000000',
  CIRCUIT_CALLS: '1000000',
};

export const newFolder = (): string => mkdtempSync(join(tmpdir(), 'gateway-service-'));

/** What `bin/local.ts` needs to find its data and its vendor. */
export const environmentFor = (folder: string, vendorUrl: string): Environment => ({
  DATA_DIR: folder,
  OPENAI_API_KEY: vendorKey,
  OPENAI_BASE_URL: `${vendorUrl}/v1`,
  ANTHROPIC_API_KEY: vendorKey,
  ANTHROPIC_BASE_URL: vendorUrl,
  GEMINI_API_KEY: vendorKey,
  GEMINI_BASE_URL: vendorUrl,
  ARK_API_KEY: vendorKey,
  ARK_BASE_URL: `${vendorUrl}/api/v3`,
  BFL_API_KEY: vendorKey,
  BFL_BASE_URL: vendorUrl,
});

/** Never to be seen by a client. */
export const vendorKey = 'vendor-key-c3a1f0';

/** The real program, ready to be asked. */
export async function startGateway(options: GatewayOptions): Promise<TestGateway> {
  const folder = options.folder ?? newFolder();
  const environment = { ...environmentFor(folder, options.vendorUrl), ...unlimited, ...options.environment };
  const local = spawnLocal(environment, options.args);
  const output = (): string => `${local.stdout()}${local.stderr()}`;
  const kill = (signal: NodeJS.Signals): Promise<number | null> => {
    local.kill(signal);
    return within('the end of the program', local.end);
  };
  const stop = async (): Promise<void> => {
    await kill('SIGTERM').catch(() => kill('SIGKILL'));
    // After a kill -9 the database is still there.
    await stopOrphan(join(folder, 'dynamodb'));
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  };
  const welcome = until('the ready line', () => {
    if (local.ended() !== undefined) throw new Error(`bin/local.ts ended: ${output()}`);
    return readWelcome(local.stdout());
  });
  const [url, apiKey] = await welcome.catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const account = (): Promise<TestAccount> => readAccount(url, apiKey);
  return {
    pid: local.pid,
    url,
    apiKey,
    folder,
    account,
    untilSettled: () =>
      until('the end of every hold', async () => {
        const now = await account();
        return now.held === 0n && now.openHolds === 0 ? now : undefined;
      }),
    output,
    kill,
    stop,
  };
}

/** Address and key once the welcome is there as a whole. */
function readWelcome(text: string): readonly [string, string] | undefined {
  const [, url] = /^ready (http:\S+)$/m.exec(text) ?? [];
  const [, apiKey] = /^Key +(\S+)$/m.exec(text) ?? [];
  return url && apiKey && text.includes('Ctrl-C') ? [url, apiKey] : undefined;
}

const accountSchema = z.strictObject({
  id: z.string(),
  status: z.literal('active'),
  balance_usd: z.string(),
  available_usd: z.string(),
  held_usd: z.string(),
  open_holds: z.int(),
});

async function readAccount(url: string, apiKey: string): Promise<TestAccount> {
  const response = await fetch(`${url}/api/account`, { headers: { authorization: `Bearer ${apiKey}` } });
  const body = accountSchema.parse(await response.json());
  return {
    balance: parseUsd(body.balance_usd),
    available: parseUsd(body.available_usd),
    held: parseUsd(body.held_usd),
    openHolds: body.open_holds,
  };
}
