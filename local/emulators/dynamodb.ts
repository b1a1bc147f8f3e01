import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { type Child, runningChild, startChild } from '../child-process.ts';
import { createTables, localDynamodbConfig } from '../create-tables.ts';
import type { DataFolder } from '../data-folder.ts';
import { freePort } from '../free-port.ts';

const platformPackage = '@dynoxide/linux-x64';
const roomName = 'dynamodb';
const databaseName = 'data.db';
const readyWithinMs = 10_000;
const portAttempts = 3;

export type DynamodbEmulator = { readonly endpoint: string; readonly pid: number; stop(): Promise<void> };

export type DynamodbEmulatorOptions = {
  readonly folder: DataFolder;
  /** Called if the database ends by itself. The message is one line for the terminal. */
  readonly onExit: (message: string) => void;
  readonly resolvePackage?: (name: string) => string;
};

/** Starts DynamoDB Local with its data in the folder, and creates missing tables. The caller stops it. */
export async function startDynamodb(options: DynamodbEmulatorOptions): Promise<DynamodbEmulator> {
  const command = findBinary(options.resolvePackage ?? createRequire(import.meta.url).resolve);
  const room = options.folder.room(roomName);
  const databaseFile = join(room, databaseName);

  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const endpoint = `http://127.0.0.1:${port}`;
    let started = false;
    const child = await startChild({
      command,
      args: ['--host', '127.0.0.1', '--port', String(port), '--db-path', databaseFile],
      room,
      ownFile: databaseFile,
      onExit: (message) => {
        if (started) options.onExit(message);
      },
    });
    try {
      await waitUntilReady(child, endpoint);
      await createTables(endpoint);
      started = true;
      return { endpoint, pid: child.pid, stop: child.stop };
    } catch (error) {
      const message = child.exitMessage();
      await child.stop();
      // The process exits if another program took the port in between. Any other cause appears again at the last
      // attempt.
      if (message === undefined || attempt === portAttempts) throw error;
    }
  }
}

/** Returns the endpoint of a data folder's database while a process runs it. */
export function runningDynamodb(dataFolder: string): string | undefined {
  const args = runningChild(join(resolve(dataFolder), roomName))?.args ?? [];
  const port = args[args.indexOf('--port') + 1];
  return args.includes('--port') && port ? `http://127.0.0.1:${port}` : undefined;
}

/** A folder that never stored anything has no database. */
export const hasDynamodbData = (dataFolder: string): boolean => existsSync(join(dataFolder, roomName, databaseName));

function findBinary(resolvePackage: (name: string) => string): string {
  try {
    return join(dirname(resolvePackage(`${platformPackage}/package.json`)), 'dynoxide');
  } catch (cause) {
    throw new Error(
      `No local database for ${process.platform}-${process.arch}: set DYNAMODB_ENDPOINT to a running one ` +
        '(such as DynamoDB Local on http://127.0.0.1:8000), or run on linux-x64.',
      { cause },
    );
  }
}

/** Polls the port, because the ready line of the program does not mean that it accepts requests. */
async function waitUntilReady(child: Child, endpoint: string): Promise<void> {
  const client = new DynamoDBClient({ ...localDynamodbConfig(endpoint), maxAttempts: 1 });
  const until = Date.now() + readyWithinMs;
  let lastError: unknown;
  try {
    while (Date.now() < until) {
      const ended = child.exitMessage();
      if (ended !== undefined) throw new Error(`The local database did not start: ${ended}`);
      try {
        await client.send(new ListTablesCommand({}), { abortSignal: AbortSignal.timeout(1_000) });
        return;
      } catch (error) {
        lastError = error;
        await sleep(15);
      }
    }
    throw new Error(`The local database gave no answer within ${readyWithinMs / 1000} s.`, { cause: lastError });
  } finally {
    client.destroy();
  }
}
