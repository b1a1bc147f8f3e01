import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CliScene, openCliScene } from './cli-scene.ts';

let scene: CliScene;
beforeAll(async () => {
  scene = await openCliScene();
});
afterAll(async () => {
  await scene?.stop();
});

const because = ['--reason', 'ticket 7', '--yes'];
let count = 0;

/** Creates an account with money. Returns its id and its first API key. */
const open = async (): Promise<readonly [id: string, apiKey: string]> => {
  count += 1;
  const id = `keys-${count}`;
  const { status, stdout } = await scene.cli('keys', 'issue', id, '--create', ...because);
  expect(status).toBe(0);
  await scene.cli('accounts', 'credit', id, '--amount', '5', '--ref', 'pay-1', ...because);
  return [id, stdout.trim()];
};

const statusWith = async (apiKey: string): Promise<number> => (await scene.statusOf(apiKey))[0];

test('KEY-8, OPS-5 keys are created, listed, changed and revoked one by one', async () => {
  const [id, first] = await open();
  const created = await scene.cli('keys', 'create', id, '--name', 'Web site', '--limit-usd', '2', ...because);
  expect([created.status, created.stderr]).toEqual([0, expect.stringContaining('cannot be shown again')]);
  const apiKey = created.stdout.trim();
  expect(await statusWith(apiKey)).toBe(200);
  const { value: list } = await scene.json('keys', 'list', id);
  expect(list.data).toMatchObject([
    { name: 'First key', first: true, rights: ['manage'] },
    { name: 'Web site', limit_usd: '2', limit_period: 'total', first: false, rights: [] },
  ]);
  const keyId = list.data[1].id;
  const edited = await scene.json('keys', 'edit', id, keyId, '--limit-usd', 'none', '--rights', 'manage', ...because);
  expect(edited.value).toMatchObject({ account: id, limit_usd: null, rights: ['manage'], version: 2 });
  const revoked = await scene.json('keys', 'revoke', id, '--key', keyId, ...because);
  expect(revoked).toMatchObject({ status: 0, value: { account: id, id: keyId, revoked: true } });
  expect([await statusWith(apiKey), await statusWith(first)]).toEqual([401, 200]);
  const { value } = await scene.json('accounts', 'show', id);
  expect(value.operations.map(({ command }: { command: string }) => command)).toEqual(
    expect.arrayContaining(['keys create', 'keys edit', 'keys revoke']),
  );
});

test('KEY-8, OPS-5 the list shows the charges of a key without a cap', async () => {
  const [id, apiKey] = await open();
  const sent = { model: 'gpt-5.4', max_tokens: 20, messages: [{ role: 'user', content: 'Hi' }] };
  const response = await fetch(`${scene.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: JSON.stringify(sent),
  });
  expect(response.status).toBe(200);
  await response.arrayBuffer();
  const { value } = await scene.json('keys', 'list', id);
  expect(value.data).toMatchObject([{ first: true, spent_usd: response.headers.get('x-service-cost-usd') }]);
});

test('KEY-8, OPS-5 a wrong option exits with 2, a rule with 3, and a dry run changes nothing', async () => {
  const [id] = await open();
  const create = (...more: readonly string[]) => scene.cli('keys', 'create', id, '--name', 'A', ...more, ...because);
  expect(await create('--limit-usd', 'many')).toMatchObject({ status: 2, stdout: '' });
  expect(await create('--models', 'gpt-0')).toMatchObject({ status: 2, stdout: '' });
  expect(await create('--requests-per-second', '11')).toMatchObject({ status: 2, stdout: '' });
  expect(await create('--rights', 'manage', '--limit-usd', '1')).toMatchObject({ status: 3, stdout: '' });
  expect(await scene.cli('keys', 'edit', id, '0123456789abcdef', '--name', 'B', ...because)).toMatchObject({
    status: 3,
  });
  expect(await scene.cli('keys', 'revoke', id, '--key', '0123456789abcdef', ...because)).toMatchObject({ status: 3 });
  expect(await scene.cli('keys', 'create', id, '--name', 'A', '--reason', 'x', '--dry-run')).toMatchObject({
    ...{ status: 0, stderr: expect.stringContaining('dry run') },
  });
  expect(await scene.cli('keys', 'list', 'unknown')).toMatchObject({ status: 1 });
  const { value } = await scene.json('keys', 'list', id);
  expect(value.data).toHaveLength(1);
  const shown = await scene.json('accounts', 'show', id);
  expect(shown.value.operations.map(({ command }: { command: string }) => command)).not.toContain('keys create');
});
