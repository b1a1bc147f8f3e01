import { createHmac } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openDataFolder } from '../../local/data-folder.ts';
import * as freePorts from '../../local/free-port.ts';
import { type LocalGateway, startLocalGateway } from '../../local/gateway.ts';
import { readLocalSettings } from '../../local/local-settings.ts';
import { toWelcome } from '../../local/welcome.ts';

vi.mock(import('../../local/free-port.ts'), async (load) => {
  const { freePort } = await load();
  return { freePort: vi.fn(freePort) };
});

const TOP_UP_KEY = 'a secret of the payment provider';

let folder: string;
let gateway: LocalGateway | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-'));
});
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the program in this process, without its command line. */
const start = async (own: Readonly<Record<string, string>>) => {
  const environment = { PORT: '0', DATA_DIR: folder, SHUTDOWN_SECONDS: '0', ...own };
  const lines: string[] = [];
  const stream = { write: (text: string) => void lines.push(text) };
  gateway = await startLocalGateway({
    settings: readLocalSettings(environment),
    environment,
    store: 'embedded',
    reset: false,
    output: { stdout: stream, stderr: stream },
  });
  return { welcome: gateway.welcome, lines };
};

test('OPS-6 a free port that another program takes before the start listens is replaced by another one', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  try {
    vi.mocked(freePorts.freePort).mockResolvedValueOnce(port);
    const { welcome } = await start({});
    expect(welcome.url).not.toContain(`:${port}`);
    expect((await fetch(`${welcome.url}/health`)).status).toBe(200);
    await gateway?.stop();
    await expect(start({ PORT: String(port) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  } finally {
    other.close();
  }
});

test('OPS-7 data of the DynamoDB emulator is rejected in one sentence and stays as it is', async () => {
  const emulated = openDataFolder(folder);
  emulated.room('dynamodb');
  emulated.close();
  await expect(start({})).rejects.toThrow(
    `${folder} holds data of the DynamoDB emulator. Use it with npm start -- --store dynamodb, or set DATA_DIR to a new folder.`,
  );
  expect(readdirSync(folder).sort()).toEqual(['.model-gateway', 'dynamodb']);
});

const topUp = async (url: string): Promise<number> => {
  const body = JSON.stringify({ account: 'local', ref: 'first', amount_usd: '5' });
  const seconds = Math.floor(Date.now() / 1_000);
  const proof = createHmac('sha256', TOP_UP_KEY).update(`${seconds}.${body}`).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-service-signature': `t=${seconds},v1=${proof}` };
  return (await fetch(`${url}/app/credits`, { method: 'POST', headers, body })).status;
};

test('OPS-6 production starts with no account, simulated provider or payment secret', async () => {
  const { welcome, lines } = await start({ MODE: 'production', CREDITS: 'off' });
  expect(welcome.account).toBeUndefined();
  expect(welcome.emulators.map(([part]) => part)).toEqual(['Database']);
  expect(readdirSync(join(folder, 'secrets'))).toEqual(['pepper']);
  expect((await fetch(`${welcome.url}/`)).status).toBe(404);
  const pepper = readFileSync(join(folder, 'secrets/pepper'), 'utf8');
  expect(`${toWelcome(welcome)}${lines.join('')}`).not.toContain(pepper);
});

test("OPS-6 production accepts payments only with the operator's secret and for known accounts", async () => {
  const { welcome } = await start({ MODE: 'production', TOP_UP_KEY });
  // The signature is valid, but production has no account `local`.
  expect(await topUp(welcome.url)).toBe(404);
  expect(existsSync(join(folder, 'secrets/top-up-key'))).toBe(false);
});

test('OPS-6 CREDITS=off rejects payments, even with a valid signature', async () => {
  const { welcome } = await start({ MODE: 'production', TOP_UP_KEY, CREDITS: 'off' });
  expect(await topUp(welcome.url)).toBe(401);
});

test('OPS-6 development starts with a funded account, simulated providers and a payment secret', async () => {
  const { welcome } = await start({ TOP_UP_KEY, LOCAL_BALANCE_USD: '3' });
  expect(welcome.account).toMatchObject({ keyState: { kind: 'current' }, balanceUsd: '3' });
  expect(welcome.emulators.map(([part]) => part)).toContain('OpenAI');
  expect(await topUp(welcome.url)).toBe(200);
});

test('OPS-6 the welcome shows the receivers of data by their origin, without paths and secrets', async () => {
  const { welcome } = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:secret@127.0.0.1:9/base',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret',
    USAGE_EVENTS_URL: 'http://127.0.0.1:9/usage/secret',
    USAGE_EVENTS_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`,
    LOCAL_WEBHOOKS: 'on',
  });
  expect(welcome.destinations).toEqual([
    ['Traces', 'http://127.0.0.1:9'],
    ['Usage events', 'http://127.0.0.1:9'],
    ['Webhooks', 'also other ports of this machine (LOCAL_WEBHOOKS=on)'],
  ]);
});

test('LIM-7 clients behind a trusted proxy have their own rate limits', async () => {
  const limits = { LIMIT_ADDRESS_PER_SECOND: '1', LIMIT_ADDRESS_BURST: '1' };
  const { welcome } = await start({ MODE: 'production', CREDITS: 'off', TRUST_PROXY: '127.0.0.1', ...limits });
  const statuses: number[] = [];
  for (let client = 1; client <= 10; client += 1) {
    const headers = { authorization: 'Bearer unknown', 'x-forwarded-for': `198.51.100.${client}` };
    statuses.push((await fetch(`${welcome.url}/api/account`, { headers })).status);
  }
  expect(statuses).toEqual(Array.from({ length: 10 }, () => 401));
});

test('OPS-6 requests that a stop interrupts are reported with the time that they had', async () => {
  const { welcome, lines } = await start({});
  const response = await fetch(`${welcome.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${welcome.account?.apiKey}` },
    body: JSON.stringify({
      model: 'gpt-5.4-mini',
      stream: true,
      messages: [{ role: 'user', content: '[[pause 20000]] hello' }],
    }),
  });
  expect(response.status).toBe(200);
  await gateway?.stop();
  await response.text().catch(() => undefined);
  expect(lines.filter((line) => line.startsWith('Requests interrupted'))).toEqual([
    'Requests interrupted because they did not end within SHUTDOWN_SECONDS=0: 1. Their holds stay until they expire.\n',
  ]);
});
