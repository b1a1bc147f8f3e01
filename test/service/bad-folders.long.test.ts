import { closeSync, mkdirSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { joinDataFolder } from '../../local/data-folder.ts';
import { openEmbeddedStores } from '../../local/embedded-stores.ts';
import { readPepper } from '../../local/local-account.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { startGateway } from '../support/gateway.ts';
import { errorSchema } from '../support/gateway-chat.ts';
import { until, within } from '../support/gateway-process.ts';
import { newFolder, type TestProgram } from '../support/program.ts';
import { runBin, runCli } from './cli-process.ts';
import { canMount, canMountImages, mountImage, mountReadOnly, printSkip } from './mounts.ts';
import { CLIENTS, type Reply, settleFolder, startStoreLoad, untilHealth } from './store-load.ts';

if (!canMount) printSkip('tests of read-only folders');
if (!canMountImages) printSkip('a test of a disk that becomes read-only');

const PAGE_BYTES = 4_096;
let parent: string;
let vendor: Simulator;
beforeAll(async () => {
  vendor = await startSimulator({ recordedMax: 1_000 });
});
afterAll(() => vendor?.stop());
beforeEach(() => {
  vendor.reset();
  parent = newFolder();
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const databaseIn = (folder: string): string => join(folder, 'database', 'gateway.db');

const makeFolder = async (): Promise<string> => {
  const path = join(parent, 'data');
  const folder = joinDataFolder(path);
  readPepper(folder);
  const stores = await openEmbeddedStores(folder.room('database'), { filesFolder: folder.room('files') });
  await stores.deps.ledgerStore.createAccount('acme', Date.now());
  await stores.close();
  folder.close();
  return path;
};

const overwrite = (path: string, position: number, bytes: Uint8Array): void => {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, position);
  closeSync(file);
};

/** Overwrites every page after the first one with garbage. Returns a function that restores them. */
const damage = (path: string): (() => void) => {
  const pages = readFileSync(path).subarray(PAGE_BYTES);
  overwrite(path, PAGE_BYTES, Buffer.alloc(pages.length, 0xa5));
  return () => overwrite(path, PAGE_BYTES, pages);
};

const withSql = (path: string, sql: string): void => {
  const db = new DatabaseSync(path, { timeout: 5_000 });
  db.exec(sql);
  db.close();
};

/** Message of each program about a folder. `FOLDER` and `DATABASE` represent paths. */
interface Messages {
  readonly start: string;
  readonly cli: string;
  readonly backup: string;
}

interface BadFolder {
  readonly title: string;
  /** Makes a data folder unusable. */
  readonly spoil: (folder: string) => void;
  readonly messages: Messages;
}

const atDatabase = (reason: string): Messages => ({
  start: `DATABASE cannot be opened: ${reason}`,
  cli: `DATABASE cannot be opened: ${reason}`,
  backup: `DATABASE cannot be copied: ${reason}`,
});
const everywhere = (message: string): Messages => ({ start: message, cli: message, backup: message });

const badFolders: readonly BadFolder[] = [
  {
    title: 'a database of a newer version',
    spoil: (folder) => withSql(databaseIn(folder), 'PRAGMA user_version = 2'),
    messages: atDatabase('its schema is version 2, and this program knows 1. Use the newer program.'),
  },
  {
    title: 'a database of another program',
    spoil: (folder) => withSql(databaseIn(folder), 'PRAGMA application_id = 7'),
    messages: atDatabase('it belongs to another program.'),
  },
  {
    title: 'garbage in the middle of the database',
    spoil: (folder) => void damage(databaseIn(folder)),
    messages: atDatabase('it is damaged. Restore a backup.'),
  },
  {
    title: 'a database without its end',
    spoil: (folder) => truncateSync(databaseIn(folder), 10 * PAGE_BYTES),
    messages: atDatabase('it is damaged. Restore a backup.'),
  },
  {
    title: 'other text in place of the database',
    spoil: (folder) => writeFileSync(databaseIn(folder), 'some notes'),
    messages: atDatabase('it is not a database. Restore a backup.'),
  },
  {
    title: 'data of the earlier version',
    spoil: (folder) => {
      rmSync(join(folder, 'database'), { recursive: true });
      for (const room of ['dynamodb', 'media']) mkdirSync(join(folder, room));
    },
    messages: {
      start:
        'FOLDER holds data of the DynamoDB emulator. Use it with npm start -- --store dynamodb, or set DATA_DIR to a new folder.',
      cli: 'FOLDER: contains no database of a local gateway. Set DATA_DIR or ACCOUNTS_TABLE, or choose an environment with --env.',
      backup: 'FOLDER holds no database of a local gateway. Set DATA_DIR to its data folder.',
    },
  },
  {
    title: 'files of another program',
    spoil: (folder) => {
      rmSync(folder, { recursive: true });
      mkdirSync(join(folder, 'database'), { recursive: true });
    },
    messages: everywhere('FOLDER is not empty and was not made by this program. Name another folder, or empty it.'),
  },
];

/** One line on stderr, without a stack, and exit code 1. */
const failing = (folder: string, message: string) => ({
  status: 1,
  stdout: '',
  stderr: `${message.replace('FOLDER', folder).replace('DATABASE', databaseIn(folder))}\n`,
});

const expectRefused = async (folder: string, { start, cli, backup }: Messages): Promise<void> => {
  const environment = { DATA_DIR: folder, PORT: '0' };
  expect(await runBin('local.ts', [], environment)).toEqual(failing(folder, start));
  expect(await runCli(['accounts', 'list'], environment)).toEqual(failing(folder, cli));
  expect(await runBin('backup.ts', [join(parent, 'copy')], environment)).toEqual(failing(folder, backup));
};

test.each(badFolders)('each program rejects a data folder with $title in one sentence', async ({ spoil, messages }) => {
  const folder = await makeFolder();
  spoil(folder);
  await expectRefused(folder, messages);
});

test.skipIf(!canMount)('each program rejects a read-only data folder in one sentence', async () => {
  const folder = await makeFolder();
  const mount = mountReadOnly(folder);
  try {
    await expectRefused(folder, everywhere('FOLDER cannot be used: it is read-only. Make it writable.'));
  } finally {
    mount.unmount();
  }
});

test.skipIf(!canMount)('a read-only database is rejected, and a backup copies it', async () => {
  const folder = await makeFolder();
  const environment = { DATA_DIR: folder, PORT: '0' };
  const mount = mountReadOnly(databaseIn(folder));
  const message = 'DATABASE cannot be opened: it is read-only. Make it writable.';
  try {
    expect(await runBin('local.ts', [], environment)).toEqual(failing(folder, message));
    expect(await runCli(['accounts', 'list'], environment)).toEqual(failing(folder, message));
    const copy = join(parent, 'copy');
    expect((await runBin('backup.ts', [copy], environment)).status).toBe(0);
    expect((await runCli(['accounts', 'list', '--json'], { DATA_DIR: copy })).stdout).toContain('acme');
  } finally {
    mount.unmount();
  }
});

describe('a gateway in use', () => {
  const BALANCE_USD = '1000';
  const start = (folder: string): Promise<TestProgram> =>
    startGateway({
      stores: 'engine',
      vendorUrl: vendor.url,
      folder,
      environment: { LOCAL_BALANCE_USD: BALANCE_USD, SWEEP_SECONDS: '1' },
    });

  /** Makes the folder unusable while every client waits for the provider, then ends the gateway. */
  const spoilUnderLoad = async (gateway: TestProgram, spoil: () => void) => {
    const load = startStoreLoad(gateway);
    await until('40 responses', () => (load.whole() >= 40 ? true : undefined));
    const gate = vendor.gate();
    await within('every client at the provider', gate.waitFor(CLIENTS));
    const before = load.replies.length;
    const sent = load.sent();
    spoil();
    for (let round = 0; round < 2; round += 1) {
      for (const { status, text } of await load.sendOfEachKind()) {
        expect(status).toBe(503);
        expect(errorSchema.parse(JSON.parse(text)).error.code).toBe('service_unavailable');
      }
      expect(await untilHealth(gateway, 503)).toEqual({ status: 'degraded', problems: ['database'] });
    }
    gate.open();
    await load.repliesUpTo(sent);
    await load.stop();
    const after = load.replies.slice(before);
    for (const { isWhole, text } of after) if (!isWhole) expect(text).toContain('"code":"service_unavailable"');
    expect(load.replies.filter(({ text }) => text.includes(gateway.folder))).toEqual([]);
    /** `held` are the responses to requests that waited for the provider. */
    return { replies: load.replies, held: after.filter(({ number }) => number <= sent) };
  };

  /** Compares the charges in the repaired folder with the responses. */
  const expectAnsweredCharged = async (folder: string, replies: readonly Reply[], mayBeCharged: number) => {
    const { balance, charged, sum, audit } = await settleFolder(folder, vendor.url);
    const whole = replies.filter(({ isWhole }) => isWhole).map(({ requestId }) => requestId);
    expect(whole.filter((id) => !charged.includes(id))).toEqual([]);
    expect(charged.length - whole.length).toBeLessThanOrEqual(mayBeCharged);
    expect(balance).toBe(parseUsd(BALANCE_USD) - sum);
    expect(audit).toEqual([0, expect.stringContaining(' 0 open holds'), expect.anything()]);
  };

  test('BILL-14 GEN-10 with a damaged database, requests are rejected and no charge is lost', async () => {
    const folder = join(parent, 'data');
    const database = databaseIn(folder);
    const gateway = await start(folder);
    let repair: (() => void) | undefined;
    const { replies, held } = await spoilUnderLoad(gateway, () => {
      withSql(database, 'PRAGMA wal_checkpoint(TRUNCATE)');
      // A commit of another process makes the gateway read its pages again.
      withSql(database, "INSERT INTO chats (id, account_id) VALUES ('chat', 'acme')");
      repair = damage(database);
    }).finally(() => gateway.stop());
    // Their charges are in the outbox. A response with an idempotency key also needs its claim in the database.
    for (const { isWhole, isKeyed } of held) expect(isWhole).toBe(!isKeyed);
    repair?.();
    await expectAnsweredCharged(folder, replies, 0);
  });

  test.skipIf(!canMountImages)('BILL-14 GEN-10 on a disk that becomes read-only, requests are rejected', async () => {
    const disk = mountImage(300);
    try {
      const folder = join(disk.path, 'data');
      const gateway = await start(folder);
      const { replies } = await spoilUnderLoad(gateway, disk.fail).finally(() => gateway.stop());
      disk.remount();
      await expectAnsweredCharged(folder, replies, CLIENTS);
    } finally {
      disk.unmount();
    }
  });
});
