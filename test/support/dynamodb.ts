import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTables } from '../../lib/local/create-tables.ts';
import { openDataFolder } from '../../lib/local/data-folder.ts';
import { startDynamodb } from '../../lib/local/dynamodb-stand-in.ts';

export type TestDynamodb = { readonly endpoint: string; stop(): Promise<void> };

/**
 * A database of its own for one test file, with every table and no item. Start it in `beforeAll`, stop it in `afterAll`.
 * `TEST_DYNAMODB_ENDPOINT` puts another engine in its place, such as DynamoDB Local, with empty tables of its own.
 */
export async function startTestDynamodb(): Promise<TestDynamodb> {
  const other = process.env.TEST_DYNAMODB_ENDPOINT;
  if (other) {
    await createTables(other);
    return { endpoint: other, stop: async () => undefined };
  }
  const path = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  const folder = openDataFolder(path);
  const standIn = await startDynamodb({
    folder,
    onExit: (message) => {
      throw new Error(message);
    },
  });
  return {
    endpoint: standIn.endpoint,
    async stop() {
      await standIn.stop();
      folder.close();
      rmSync(path, { recursive: true, force: true });
    },
  };
}
