import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEmbedded } from '../../../bin/stores.ts';
import { runHere } from '../../support/scripted-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'cli-maintenance-'));
beforeAll(async () => (await openEmbedded(folder)).close());
afterAll(() => rmSync(folder, { recursive: true }));

const cli = (...args: readonly string[]) => runHere(args, { DATA_DIR: folder });
const shown = async () => JSON.parse((await cli('maintenance', 'show', '--json')).stdout);

test.each([
  ['on', 'off', 'on'],
  ['pause', 'on', 'paused'],
  ['off', 'paused', 'off'],
])('OPS-15 maintenance %s changes %s to %s', async (command, before, after) => {
  const dry = await cli('maintenance', command, '--dry-run');
  expect([dry.status, dry.stdout]).toEqual([0, `maintenance_before  ${before}\nmaintenance         ${after}\n`]);
  expect(await shown()).toEqual({ maintenance: before });
  const run = await cli('maintenance', command, '--yes', '--json');
  expect([run.status, JSON.parse(run.stdout)]).toEqual([0, { maintenance_before: before, maintenance: after }]);
  expect(await shown()).toEqual({ maintenance: after });
});

test('OPS-15 maintenance asks before it changes the switch', async () => {
  const { status, asked, stderr } = await runHere(['maintenance', 'on'], { DATA_DIR: folder }, false);
  expect([status, asked]).toEqual([1, ['Set maintenance to on? It is off.']]);
  expect(stderr).toContain('Nothing was changed.');
  expect(await shown()).toEqual({ maintenance: 'off' });
});
