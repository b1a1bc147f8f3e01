import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { stopOrphan } from '../../local/child-process.ts';
import type { TestAccount, TestGateway } from './gateway.ts';
import { LASTING_MODEL } from './gateway-chat.ts';
import { type Environment, spawnLocal, until, within } from './gateway-process.ts';
import { TEST_DAY, unlimited } from './in-process-gateway.ts';
import { vendorEnvironment } from './vendor-environment.ts';

export interface ProgramOptions {
  /** URL of the server that simulates the providers, without a path. */
  readonly vendorUrl: string;
  readonly environment?: Environment;
  /** Folder with data of an earlier run. By default a new folder, which `stop` removes. */
  readonly folder?: string;
  readonly args?: readonly string[];
}

export interface TestProgram extends TestGateway {
  readonly pid: number;
  /** Folder of the program's data. */
  readonly folder: string;
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

/** A busy machine needs most of this time to start several programs. */
const READY_MS = 90_000;

export const newFolder = (): string => mkdtempSync(join(tmpdir(), 'gateway-service-'));

/** Starts `bin/local.ts` as a separate process, on the engines of `npm start`. */
export async function startProgram(options: ProgramOptions): Promise<TestProgram> {
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
    // The database survives a SIGKILL of the program.
    await stopOrphan(join(folder, 'dynamodb'));
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  };
  const readyLine = () => {
    if (local.ended() !== undefined) throw new Error(`bin/local.ts ended: ${output()}`);
    return readWelcome(local.stdout());
  };
  const welcome = until('the ready line', readyLine, READY_MS);
  const [url, apiKey] = await welcome.catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const account = (): Promise<TestAccount> => readAccount(url, apiKey);
  return {
    pid: local.pid,
    url,
    apiKey,
    model: LASTING_MODEL,
    folder,
    now: Date.now,
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

/** Returns the URL and the API key. Undefined until the welcome text is complete. */
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

/** Returns the variables that `bin/local.ts` needs to find its data and its providers. */
export const environmentFor = (folder: string, vendorUrl: string): Environment => ({
  DATA_DIR: folder,
  ...vendorEnvironment(vendorUrl),
});

/**
 * Returns the variables for a clock that starts ahead by `aheadMs`, and jumps by `jumpMs` with each SIGUSR2: a test can
 * change the day of a running program. The clocks of its stores and providers, which it reads from `Date` headers, jump
 * with it.
 */
export const jumpingClock = (aheadMs: number, jumpMs: number): Environment => {
  const code = `const { now, parse } = Date; let ahead = ${aheadMs}; Date.now = () => now() + ahead;
    Date.parse = (text) => parse(text) + (text.endsWith(' GMT') ? ahead : 0);
    process.on('SIGUSR2', () => { ahead += ${jumpMs}; });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
};

/** Returns the variables that move a program's clock, and those of its stores and providers, ahead by `ms`. */
export const aheadBy = (ms: number): Environment => jumpingClock(ms, 0);

const shiftMs = TEST_DAY - Date.now();

/** Lets a program run on TEST_DAY, for suites whose models retire or change their price. */
export const testDay = {
  environment: aheadBy(shiftMs),
  now: (): number => Date.now() + shiftMs,
} as const;
