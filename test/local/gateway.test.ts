import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDataFolder } from '../../local/data-folder.ts';
import { startLocalGateway } from '../../local/gateway.ts';
import { readLocalSettings } from '../../local/local-settings.ts';

test('OPS-7 data of the DynamoDB emulator is refused in one sentence and stays as it is', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'gateway-')), 'data');
  const folder = openDataFolder(path);
  folder.room('dynamodb');
  folder.close();
  const start = startLocalGateway({
    settings: readLocalSettings({ DATA_DIR: path, PORT: '0' }),
    environment: {},
    store: 'embedded',
    reset: false,
    output: { stdout: { write: () => undefined }, stderr: { write: () => undefined } },
  });
  await expect(start).rejects.toThrow(
    `${path} holds data of the DynamoDB emulator. Use it with npm start -- --store dynamodb, or set DATA_DIR to a new folder.`,
  );
  expect(readdirSync(path).sort()).toEqual(['.model-gateway', 'dynamodb']);
});
