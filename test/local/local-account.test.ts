import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { joinDataFolder } from '../../local/data-folder.ts';
import { readPepper } from '../../local/local-account.ts';

test('OPS-7 a pepper is created once, and a folder with a database but no pepper is rejected', () => {
  const folder = joinDataFolder(join(mkdtempSync(join(tmpdir(), 'account-')), 'data'));
  const pepper = readPepper(folder);
  expect(pepper).toMatch(/^[0-9a-f]{64}$/);
  folder.room('database');
  expect(readPepper(folder)).toBe(pepper);
  rmSync(join(folder.path, 'secrets/pepper'));
  const refusal = `${folder.path} has lost secrets/pepper, and no API key works without it. Restore it from a backup.`;
  expect(() => readPepper(folder)).toThrow(refusal);
  folder.close();
});
