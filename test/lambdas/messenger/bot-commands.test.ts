import { afterEach, describe, expect, test } from 'vitest';
import { createCatalog } from '../../../lambdas/core/catalog/catalog.ts';
import { loadCatalog } from '../../../lambdas/core/catalog/load-catalog.ts';
import type { ChargeRecord } from '../../../lambdas/core/ledger/ledger.ts';
import { parseUsd } from '../../../lambdas/core/money/usd.ts';
import { type BotService, type BotServiceOptions, createBotService } from '../../support/bot-service.ts';
import { USER } from '../../support/bot-updates.ts';
import { data, text } from '../core/catalog/sample-data.ts';

const services: BotService[] = [];
afterEach(async () => {
  for (const { messenger } of services.splice(0)) await messenger.stop();
});

/** Bot service with an account. */
const open = async (options: BotServiceOptions = {}) => {
  const service = await createBotService(options);
  services.push(service);
  await service.say('/start');
  const accountId = (await service.deps.accounts.chat(String(USER)))?.accountId ?? '';
  const ask = async (command: string, language = 'en') => {
    await service.say(command, { language });
    return service.messenger.messages(USER).at(-1) ?? { text: '', buttons: [], spans: [] };
  };
  return { ...service, accountId, ask };
};

/** Id whose time part is this time in milliseconds. */
const requestIdAt = (ms: number, tail: string): string => {
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  let id = '';
  for (let rest = ms, place = 0; place < 10; place += 1, rest = Math.floor(rest / 32)) id = `${digits[rest % 32]}${id}`;
  return `${id}${tail.padStart(16, '0')}`;
};

const record = (accountId: string, at: string, amountUsd: string, more: Partial<ChargeRecord> = {}): ChargeRecord => {
  const requestId = requestIdAt(Date.parse(at), String(Date.parse(at) % 1e9));
  const amountPicos = parseUsd(amountUsd);
  return {
    accountId,
    holdId: `${requestId}.0`,
    requestId,
    outcome: 'settled',
    amountPicos,
    at: 0,
    model: 'm-1',
    ...more,
  };
};

describe('/balance', () => {
  test('KEY-1 shows the balance, its available part and its held part, exactly', async () => {
    const { ask, ledger, accountId } = await open();
    for (const [index, amount] of ['0.1', '0.000000000001'].entries()) {
      await ledger.hold({
        accountId,
        holdId: `H${index}.0`,
        amountPicos: parseUsd(amount),
        expiresAtMs: 1,
        sweepAtMs: 1,
        previousHoldId: undefined,
      });
    }
    expect((await ask('/balance')).text).toBe(
      'Balance: 2.5 USD\nAvailable: 2.399999999999 USD\nHeld: 0.100000000001 USD for 2 requests in progress',
    );
    expect((await ask('/balance', 'ru-RU')).text).toBe(
      'Баланс: 2.5 USD\nДоступно: 2.399999999999 USD\nУдержано: 0.100000000001 USD за 2 выполняемых запроса',
    );
  });

  test('KEY-1 says that an account is blocked', async () => {
    const { ask, ledger, accountId } = await open();
    ledger.setStatus(accountId, 'blocked');
    expect((await ask('/balance')).text).toContain('The account is blocked.');
  });
});

describe('/usage', () => {
  test('KEY-1 shows today, seven days and the last five requests', async () => {
    const { ask, ledger, accountId } = await open();
    const records = [
      record(accountId, '2026-11-13T23:59:59.999Z', '100'),
      record(accountId, '2026-11-14T00:00:00.000Z', '0.25'),
      record(accountId, '2026-11-19T23:59:59.999Z', '0.5'),
      record(accountId, '2026-11-20T00:00:00.000Z', '0.125'),
      record(accountId, '2026-11-20T09:05:00.000Z', '0', { outcome: 'released', reason: 'upstream_error' }),
      record(accountId, '2026-11-20T10:00:00.000Z', '0.000000000001', { model: '<b>&' }),
    ];
    for (const each of records) await ledger.putRecord(each);
    expect((await ask('/usage')).text).toBe(
      [
        'Today: 0.125000000001 USD, 2 requests',
        'Last 7 days: 0.875000000001 USD, 4 requests',
        '',
        'Last requests',
        '20 Nov, 10:00 · <b>& · 0.000000000001 USD',
        '20 Nov, 09:05 · m-1 · failed: 0 USD',
        '20 Nov, 00:00 · m-1 · 0.125 USD',
        '19 Nov, 23:59 · m-1 · 0.5 USD',
        '14 Nov, 00:00 · m-1 · 0.25 USD',
        '',
        'Days and times are in UTC.',
      ].join('\n'),
    );
    const russian = (await ask('/usage', 'ru')).text;
    expect(russian).toContain('Сегодня: 0.125000000001 USD, 2 запроса\nЗа 7 дней: 0.875000000001 USD, 4 запроса');
    expect(russian).toContain('ошибка: 0 USD');
  });

  test('KEY-1 sums several pages of records, and says when there are too many to read', async () => {
    const { ask, ledger, accountId } = await open();
    const from = Date.parse('2026-11-20T01:00:00Z');
    const fill = async (count: number, offset: number): Promise<void> => {
      for (let index = 0; index < count; index += 1) {
        await ledger.putRecord(record(accountId, new Date(from + offset + index).toISOString(), '0.001'));
      }
    };
    await fill(1_021, 0);
    expect((await ask('/usage')).text).toContain('Today: 1.021 USD, 1021 requests');
    expect((await ask('/usage', 'ru')).text).toContain('1.021 USD, 1021 запрос\n');
    await fill(4_000, 10_000);
    expect((await ask('/usage')).text).toContain('Today: more than 4.999 USD, 4999 requests');
  });

  test('KEY-1 shows no requests before the first one', async () => {
    const { ask } = await open();
    expect((await ask('/usage')).text).toContain('Today: 0 USD, 0 requests');
    expect((await ask('/usage', 'ru')).text).toContain('Запросов ещё не было.');
  });
});

describe('/key', () => {
  test('KEY-1 shows the key masked, and says when it was revoked', async () => {
    const { ask, deps, accountId } = await open();
    const key = await deps.keys.currentKey(accountId);
    const shown = await ask('/key');
    expect(shown.text).toMatch(/^Your API key: sk-service-\w{4}…\w{4}\nIssued on 20 November 2026\.\n/);
    expect(shown.buttons.flat()).toMatchObject([{ kind: 'app', url: 'https://gateway.example/app' }]);
    expect((await ask('/key', 'ru')).text).toContain('Выпущен 20 ноября 2026 г.');
    await deps.keys.revokeKey(accountId, key?.hash ?? '');
    expect((await ask('/key')).text).toContain('is revoked');
    expect((await ask('/start')).text).toContain('is revoked');
  });
});

describe('/models', () => {
  test.each(['en', 'ru'])('CAT-2 lists kinds, companies and prices of a day in one message (%s)', async (language) => {
    const { ask } = await open();
    const { text } = await ask('/models', language);
    expect(text).toContain('gpt-6.2-sol');
    expect(text).toContain('seedream-4-0 0.03');
    expect(text.length).toBeLessThan(4_096);
    expect(text).not.toContain('undefined');
  });

  test('CAT-2 a price that depends on the request is shown at its minimum', async () => {
    const { text } = await (await open()).ask('/models');
    expect(text).toContain('from 2 / 10 per 1M tokens');
    expect(text).toContain('omni-moderation-latest free');
    expect(text).toMatch(/claude-opus-5-5 4 \/ 20 per 1M tokens/);
  });

  test('CAT-2 images, clips, speech and transcription are shown with the range of their examples', async () => {
    const { text } = await (await open()).ask('/models');
    expect(text).toContain('gpt-image-2 0.005 to 0.211 per image');
    expect(text).toContain('seedance-2-0 0.62468 to 4.539612 per clip');
    expect(text).toContain('tts-1 0.0135 per minute');
    expect(text).toContain('gpt-transcribe 0.0045 per minute');
  });

  test('CAT-2 a catalog of any size fits into one message', async () => {
    const { entries, providers } = loadCatalog(data([text()]));
    const many = Array.from({ length: 600 }, (_, index) => ({
      ...entries[0]!,
      id: `m-${index}`,
      company: `c-${index}`,
    }));
    const service = await open({ catalog: createCatalog(many, providers) });
    const { text: shown } = await service.ask('/models');
    expect(shown).toContain('600 models');
    expect(shown.length).toBeLessThan(4_096);
  });
});

describe('/topup', () => {
  const withText = (TOP_UP_TEXT: string) => open({ environment: { TOP_UP_TEXT } });

  test('KEY-1 a link becomes a button with the account in it', async () => {
    const { ask, accountId } = await withText('https://pay.example/?a={account}&b=1');
    expect((await ask('/topup')).buttons).toEqual([
      [{ kind: 'link', text: 'Top up', url: `https://pay.example/?a=${accountId}&b=1` }],
    ]);
  });

  test('KEY-1 any other text is shown unchanged', async () => {
    const { ask, accountId } = await withText('Pay <Ada> & name {account}');
    expect(await ask('/topup')).toMatchObject({ text: `Pay <Ada> & name ${accountId}`, buttons: [] });
  });

  test('KEY-1 the reply names the contact if there is no link', async () => {
    const { ask, accountId } = await open();
    expect((await ask('/topup')).text).toContain(accountId);
    expect((await ask('/topup', 'ru')).text).toMatch(/владелец сервиса/);
  });
});

describe('other messages', () => {
  test('KEY-1 get the list of commands', async () => {
    const { ask } = await open();
    const help = await ask('/help');
    for (const words of ['/frobnicate', 'hello', '/']) expect((await ask(words)).text).toBe(help.text);
    for (const name of ['start', 'balance', 'usage', 'key', 'models', 'topup', 'help'])
      expect(help.text).toContain(`/${name} –`);
    expect((await ask('привет', 'ru')).text).toContain('/balance – баланс');
  });

  test('KEY-1 a command that needs an account says how to create one if there is none', async () => {
    const service = await createBotService();
    services.push(service);
    for (const command of ['/balance', '/usage', '/key', '/topup']) await service.say(command);
    expect(new Set(service.texts())).toEqual(new Set(['You have no account yet. Create one with /start.']));
    expect(service.ledger.accounts()).toEqual([]);
  });

  test.each([
    ['en', 'Set up clients and SDKs'],
    ['ru', 'Настройка клиентов и SDK'],
  ])('KEY-1 REF-2 the first key in %s comes with a link to the client guide', async (language, label) => {
    const service = await createBotService();
    services.push(service);
    await service.say('/start', { language });
    const [keyMessage] = service.messenger.messages(USER).filter(({ text: said }) => said.includes('sk-service-'));
    const link = keyMessage?.spans.find(({ kind }) => kind === 'link');
    expect(link).toMatchObject({ url: 'https://gateway.example/api-reference/clients' });
    expect(keyMessage?.text.slice(link?.offset).startsWith(label)).toBe(true);
  });

  test('KEY-3 the language of the last message is kept for notifications', async () => {
    const service = await createBotService();
    services.push(service);
    await service.say('/start', { language: 'ru' });
    expect(await service.deps.accounts.chat(String(USER))).toMatchObject({ language: 'ru' });
    await service.say('/help', { language: 'de' });
    expect(await service.deps.accounts.chat(String(USER))).toMatchObject({ language: 'en' });
  });
});

describe('the button of the app', () => {
  const buttonsAt = async (environment: Record<string, string>) => {
    const { ask } = await open({ environment });
    return (await ask('/balance')).buttons.flat();
  };

  test('KEY-1 the app button is shown for an https URL, and for an http URL of this machine', async () => {
    expect(await buttonsAt({ PUBLIC_URL: 'https://gateway.example/' })).toMatchObject([
      { url: 'https://gateway.example/app' },
    ]);
    expect(await buttonsAt({ PUBLIC_URL: 'http://127.0.0.1:8787' })).toMatchObject([
      { url: 'http://127.0.0.1:8787/app' },
    ]);
  });

  test('KEY-1 the app button and the example request are missing without a public URL', async () => {
    const service = await open({ environment: { PUBLIC_URL: '' } });
    expect(service.messenger.messages(USER).flatMap(({ buttons }) => buttons)).toEqual([]);
    expect(service.texts().join()).not.toContain('curl');
  });
});
