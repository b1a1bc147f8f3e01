import { createHmac, randomBytes } from 'node:crypto';
import { makeApiKey } from '../../../lambdas/core/accounts/keys.ts';
import { parseUsd } from '../../../lambdas/core/money/usd.ts';
import { signBody, updateSecretOf } from '../../../lambdas/core/signature.ts';
import { type Simulator, startSimulator } from '../../../local/simulators/server.ts';
import { keysIn } from '../../support/bot-updates.ts';
import { type Environment, until } from '../../support/gateway-process.ts';
import { readPepper } from '../../support/hostile-account.ts';
import { startCollector } from '../../support/otlp-collector.ts';
import { type TestProgram, testDay } from '../../support/program.ts';
import { startServerGroup } from '../../support/server-group.ts';
import { Canaries, type Ending } from './kit.ts';
import type { CanaryRequest, KeyPlace } from './requests.ts';
import { type Kept, keptInBucket, keptInMachine, keptInTables } from './search.ts';
import { type QuotingVendor, startQuotingVendor } from './vendor.ts';

const FUNDS = parseUsd('1000');

/** Instruction to the provider for each ending, for plain requests and streams. */
const asks: Readonly<Record<Ending, { readonly plain: string; readonly streamed: string }>> = {
  good: { plain: '', streamed: '' },
  failed: { plain: '[[quote 500]]', streamed: '[[error-event 4]]' },
  quoted: { plain: '[[quote 400]]', streamed: '[[quote 200]]' },
  refused: { plain: '', streamed: '' },
  killed: { plain: '[[wait]]', streamed: '[[wait]]' },
};

export interface Answered {
  readonly status: number;
  readonly text: string;
}

export type CanaryScene = Awaited<ReturnType<typeof openCanaryScene>>;

/** Places of an invalid API key. */
export const keyPlaces = ['authorization', 'x-api-key', 'x-provider-api-key', 'x-goog-api-key', '?key='] as const;

/** Starts the real program behind CloudFront settings, with known secrets and readable stores. */
export const openCanaryScene = async () => {
  const canaries = new Canaries();
  const secret = (place: string, text?: string): string => canaries.secret(place, 'good', text);
  const originSecret = secret('the origin secret');
  const botToken = `123456:${secret('the token of the bot')}`;
  const topUpKey = secret('the key for payments');
  secret('the secret of the messenger', updateSecretOf(botToken));
  const vendors = ['OPENAI', 'ANTHROPIC', 'GEMINI', 'ARK', 'BFL'];
  const vendorKeys = Object.fromEntries(vendors.map((name) => [`${name}_API_KEY`, secret(`the provider key ${name}`)]));
  const simulator: Simulator = await startSimulator();
  const vendor: QuotingVendor = await startQuotingVendor(simulator.url);
  const group = await startServerGroup();
  const collector = await startCollector();
  const logs: { readonly kind: string; readonly server: TestProgram }[] = [];
  const answers: string[] = [];
  let accounts = 0;

  const start = async (format: 'json' | 'line', environment: Environment = {}): Promise<TestProgram> => {
    const server = await group.start({
      vendorUrl: simulator.url,
      environment: {
        ...vendor.environment,
        ...vendorKeys,
        ...testDay.environment,
        ...{ LOG: format, FRONT_DOOR: 'cloudfront', ORIGIN_SECRET: originSecret },
        ...{ BOT_TOKEN: botToken, TOP_UP_KEY: topUpKey, SWEEP_SECONDS: '1' },
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        ...environment,
      },
    });
    secret('the pepper', readPepper(server.folder));
    logs.push({ kind: `log ${format}`, server });
    return server;
  };

  const ask = async (server: TestProgram, path: string, init: RequestInit): Promise<Answered> => {
    const headers = new Headers(init.headers);
    if (!headers.has('x-origin-secret')) headers.set('x-origin-secret', originSecret);
    headers.set('x-client-ip', '203.0.113.9');
    const response = await fetch(new URL(path, server.url), { ...init, headers });
    const text = await response.text();
    answers.push(`${JSON.stringify([...response.headers])} ${text}`);
    return { status: response.status, text };
  };

  const openAccount = async (place: string, ending: Ending) => {
    accounts += 1;
    const account = await group.openAccount(`account-${accounts}`, FUNDS);
    canaries.secret(place, ending, account.apiKey);
    return account;
  };

  /** Sends a request with a canary in each of its places, from its own account. */
  const send = async (server: TestProgram, request: CanaryRequest, ending: Ending): Promise<Answered> => {
    const mark = (place: string): string => canaries.plant(`${request.name}: ${place}`, ending);
    const { apiKey } = await openAccount(`${request.name}: key in ${request.keyIn}`, ending);
    const headers = new Headers(request.headers);
    for (const name of ['x-request-id', 'user-agent', 'cookie', 'referer', 'x-canary', 'tracestate', 'baggage'])
      headers.set(name, mark(`header ${name}`));
    if (request.keyed) headers.set('idempotency-key', mark('header idempotency-key'));
    const body = request.body(mark, asks[ending][request.streamed ? 'streamed' : 'plain']);
    const path = withKey(request.path, request.keyIn, apiKey, headers);
    if (body instanceof FormData) {
      if (ending === 'refused') body.append('unheard_of', mark('unknown field'));
      return ask(server, path, { method: 'POST', headers, body });
    }
    // The misspelled field is rejected even if unknown fields are ignored (GEN-16).
    const spoilt =
      ending === 'refused'
        ? { [mark('name of an unknown field')]: mark('unknown field'), modell: mark('misspelled field') }
        : {};
    return ask(server, path, { method: 'POST', headers, body: JSON.stringify({ ...body, ...spoilt }) });
  };

  /** Sends unknown API keys: one well-formed, one that is a character too long, and none. */
  const sendWrongKeys = async (
    server: TestProgram,
    request: CanaryRequest,
    keyIn: KeyPlace,
  ): Promise<readonly number[]> => {
    const mark = (place: string): string => canaries.plant(`${request.name} with a wrong key: ${place}`, 'refused');
    const wrong = [makeApiKey(randomBytes(32)), `${makeApiKey(randomBytes(32))}x`, randomBytes(16).toString('hex')];
    const replies = wrong.map((key) => {
      canaries.secret(`${request.name}: wrong key in ${keyIn}`, 'refused', key);
      const headers = new Headers(request.headers);
      const path = withKey(request.path, keyIn, key, headers);
      const body = request.body(mark, '');
      return ask(server, path, {
        method: 'POST',
        headers,
        body: body instanceof FormData ? body : JSON.stringify(body),
      });
    });
    return (await Promise.all(replies)).map(({ status }) => status);
  };

  /**
   * Sends a bot update from this chat. The messenger accepts the bot's reply only if the number of the chat is even.
   */
  const sendUpdate = async (server: TestProgram, chat: number, isGenuine: boolean): Promise<Answered> => {
    const mark = (place: string): string => canaries.plant(`bot: ${place}`, isGenuine ? 'good' : 'refused');
    const who = { id: chat, first_name: mark('name of the user') };
    const token = isGenuine ? updateSecretOf(botToken) : canaries.secret('bot: another token', 'refused');
    const message = { message_id: chat, date: 1_794_000_000, text: `/start ${mark('text')}` };
    const update = {
      ...message,
      chat: { ...who, type: 'private' },
      from: { ...who, is_bot: false, language_code: 'en' },
    };
    const answer = await ask(server, '/bot', {
      method: 'POST',
      headers: { 'x-telegram-bot-api-secret-token': token },
      body: JSON.stringify({ update_id: chat, message: update }),
    });
    for (const key of keysIn(vendor.received.join())) secret('bot: current key', key);
    return answer;
  };

  const openApp = (server: TestProgram, chat: number, isGenuine: boolean): Promise<Answered> => {
    const ending = isGenuine ? 'good' : 'refused';
    const name = canaries.plant('app: name of the user', ending);
    const token = isGenuine ? botToken : canaries.secret('app: another token', ending);
    const { hash, text } = initDataOf(token, chat, name);
    canaries.secret('app: hash of initData', ending, hash);
    return ask(server, '/app/api/account', { headers: { authorization: `tma ${text}` } });
  };

  const topUp = (server: TestProgram, accountId: string, isGenuine: boolean): Promise<Answered> => {
    const ending = isGenuine ? 'good' : 'refused';
    const key = isGenuine ? topUpKey : canaries.secret('top-up: another key', ending);
    const body = JSON.stringify({ account: accountId, ref: `ref-${randomBytes(4).toString('hex')}`, amount_usd: '1' });
    const signature = signBody(key, body, Math.floor(testDay.now() / 1_000));
    canaries.secret('top-up: signature', ending, signature.split('v1=')[1]);
    return ask(server, '/app/credits', { method: 'POST', headers: { 'x-service-signature': signature }, body });
  };

  /** Reads all stored data, logs and responses. */
  const everythingKept = async (): Promise<readonly Kept[]> => {
    const machines = logs.filter(({ server }) => isRunning(server.pid)).map(({ server }) => keptInMachine(server.pid));
    const [tables, bucket, ...executions] = await Promise.all([
      keptInTables(group.databaseUrl),
      keptInBucket(group.bucketUrl),
      ...machines,
    ]);
    return [
      ...logs.map(({ kind, server }) => ({ kind, text: server.output() })),
      ...collector.requests.map(({ headers, body }) => ({ kind: 'trace', text: `${JSON.stringify(headers)} ${body}` })),
      ...answers.map((text) => ({ kind: 'answer', text })),
      ...tables,
      ...bucket,
      ...executions.flat(),
    ];
  };

  /** Waits until no account has an open hold. */
  const untilSettled = () =>
    until(
      'the end of every hold',
      async () => {
        const numbers = Array.from({ length: accounts }, (_, index) => index + 1);
        const read = await Promise.all(numbers.map((number) => group.store.readAccount(`account-${number}`)));
        return read.every((account) => account?.holds.size === 0) || undefined;
      },
      60_000,
    );

  const stop = async (): Promise<void> => {
    await group.stop();
    await collector.stop();
    await vendor.stop();
    await simulator.stop();
  };
  return {
    canaries,
    group,
    vendor,
    start,
    ask,
    send,
    sendWrongKeys,
    sendUpdate,
    openApp,
    topUp,
    openAccount,
    untilSettled,
    everythingKept,
    stop,
  };
};

const withKey = (path: string, keyIn: KeyPlace, key: string, headers: Headers): string => {
  if (keyIn === '?key=') return `${path}${path.includes('?') ? '&' : '?'}key=${key}`;
  headers.set(keyIn, keyIn === 'authorization' ? `Bearer ${key}` : key);
  return path;
};

/** Signs init data as the messenger does. */
const initDataOf = (token: string, chat: number, name: string) => {
  const fields = {
    user: JSON.stringify({ id: chat, first_name: name }),
    auth_date: String(Math.floor(testDay.now() / 1_000)),
  };
  const signed = Object.entries(fields).map(([field, value]) => `${field}=${value}`);
  const key = createHmac('sha256', 'WebAppData').update(token).digest();
  const hash = createHmac('sha256', key).update(signed.sort().join('\n')).digest('hex');
  return { hash, text: new URLSearchParams({ ...fields, hash }).toString() };
};

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
