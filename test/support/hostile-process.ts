import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ulid } from 'ulid';
import { makeApiKey, toNewKey } from '../../lambdas/core/accounts/keys.ts';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { stopOrphan } from '../../local/child-process.ts';
import { openEmbeddedStores } from '../../local/embedded-stores.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { type Environment, spawnLocal, until, within } from './gateway-process.ts';
import { readAccount, readPepper } from './hostile-account.ts';
import { unlimited } from './in-process-gateway.ts';
import { environmentFor, newFolder } from './program.ts';

/** Credentials of callers without an API key. */
export const botToken = '123456:a-token-of-the-hostile-tests';
export const topUpKey = 'a-top-up-key-of-the-hostile-tests';

export type HostileProcess = Awaited<ReturnType<typeof startHostileProcess>>;

/** Starts the real program with a simulated provider, for tests from the outside. */
export const startHostileProcess = async (environment: Environment = {}, flags: readonly string[] = []) => {
  const vendor: Simulator = await startSimulator({ recordedMax: 100 });
  const folder = newFolder();
  const apiKey = makeApiKey(randomBytes(32));
  const own = {
    LOCAL_API_KEY: apiKey,
    LOCAL_BALANCE_USD: '1000',
    BOT_TOKEN: botToken,
    // No messenger listens there, so messages of the bot are lost.
    BOT_API_URL: 'http://127.0.0.1:9',
    TOP_UP_KEY: topUpKey,
  };
  const local = spawnLocal({ ...environmentFor(folder, vendor.url), ...unlimited, ...own, ...environment }, [], flags);
  const port = await until('the ready line', () => {
    if (local.ended() !== undefined) throw new Error(`bin/local.ts ended: ${local.stderr()}`);
    const [, port] = /^ready http:\/\/127\.0\.0\.1:(\d+)$/m.exec(local.stdout()) ?? [];
    return port && local.stdout().includes('Ctrl-C') ? Number(port) : undefined;
  });
  const stop = async (): Promise<void> => {
    local.kill('SIGTERM');
    await within('the end of the program', local.end).finally(() => local.kill('SIGKILL'));
    await stopOrphan(join(folder, 'dynamodb'));
    rmSync(folder, { recursive: true, force: true });
    await vendor.stop();
  };
  return {
    port,
    pid: local.pid,
    apiKey,
    folder,
    vendor,
    output: () => ({ stdout: local.stdout(), stderr: local.stderr() }),
    running: () => local.ended() === undefined,
    /** Returns the peak memory of the program in bytes. */
    peakBytes: () => peakBytes(local.pid),
    account: () => readAccount(port, apiKey),
    issue: (balanceUsd: string) => issue(folder, balanceUsd),
    stop,
  };
};

/** Opens an account in the data folder of a running program. Returns its API key. */
const issue = async (folder: string, balanceUsd: string): Promise<string> => {
  const apiKey = makeApiKey(randomBytes(32));
  const stores = await openEmbeddedStores(join(folder, 'database'), { filesFolder: join(folder, 'files') });
  await stores.deps.accounts.open({
    ...{ accountId: ulid(), chatId: undefined, key: toNewKey(readPepper(folder), apiKey, true) },
    ...{ creditPicos: parseUsd(balanceUsd), atMs: Date.now() },
  });
  await stores.close();
  return apiKey;
};

/** Returns the peak memory of a process in bytes. Linux only. */
export const peakBytes = (pid: number): number => memoryOf(pid, 'VmHWM');

/** Returns the memory of a process in bytes. Linux only. */
export const residentBytes = (pid: number): number => memoryOf(pid, 'VmRSS');

const memoryOf = (pid: number, name: string): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  if (!kibibytes) throw new Error(`/proc has no ${name} of the process`);
  return Number(kibibytes) * 1_024;
};
