import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { clients } from '../clients/clients.ts';
import { clientBlock, guidePath, pinOf, readBlock } from '../clients/guide.ts';

const page = readFileSync(guidePath, 'utf8');
const hint = 'run npm run test:clients -- --write';

describe.each(clients)('$id', (client) => {
  test('the guide has the pinned versions, the set-up and the ignored parameters', () => {
    expect(readBlock(page, client.id), hint).toBe(clientBlock(client));
  });

  test('the results table of the guide has the pinned versions', () => {
    const results = readBlock(page, 'results') ?? '';
    const row = results.split('\n').find((line) => line.startsWith(`| ${client.title} (`)) ?? '';
    for (const name of client.packages) expect(row, hint).toContain(`\`${name}\` ${pinOf(client, name)}`);
  });

  test('the program and the field recording of the client exist', () => {
    const folder = join(guidePath, '../../../test/clients');
    expect(existsSync(join(folder, client.program))).toBe(true);
    expect(existsSync(join(folder, `fields/${client.id}.json`)), hint).toBe(true);
  });
});

test('no two clients have one id', () => {
  expect(new Set(clients.map(({ id }) => id)).size).toBe(clients.length);
});
