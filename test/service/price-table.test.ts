import { expect, test } from 'vitest';
import * as z from 'zod';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { until } from '../support/gateway-process.ts';
import { png } from '../support/image-service.ts';
import { startSimulated } from './simulated-gateway.ts';

/*
 * Everything here comes from the public interface: the price list, the request and its receipt. The arithmetic is the
 * test's own, so a price that no route charges cannot be right twice.
 */

const { gateway } = await startSimulated({
  LOCAL_BALANCE_USD: '5000',
  MARKUP: '1.2',
  LIMIT_ADDRESS_PER_SECOND: '100000',
  LIMIT_ADDRESS_BURST: '100000',
  LIMIT_KEY_PER_SECOND: '100000',
  LIMIT_KEY_BURST: '100000',
  VIDEO_POLL_SECONDS: '1',
  VIDEO_POLL_SECONDS_MAX: '1',
});

const prices = z.record(z.string(), z.string().regex(/^(0|[1-9]\d*)(\.\d*[1-9])?$/));
const listSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      kind: z.string(),
      protocols: z.array(z.string()),
      prices: z.array(
        z.strictObject({
          protocols: z.array(z.string()).min(1),
          from: z.string().nullable(),
          until: z.string().nullable(),
          when: z.strictObject({
            input_tokens_above: z.int().default(-1),
            input_tokens_max: z.int().default(Number.MAX_SAFE_INTEGER),
            pixels_above: z.int().default(-1),
            pixels_max: z.int().default(Number.MAX_SAFE_INTEGER),
            size_tier: z.string().optional(),
            sizes: z.array(z.string()).optional(),
          }),
          prices_usd: prices,
        }),
      ),
      examples: z.array(
        z.strictObject({
          size: z.string().nullable(),
          quality: z.string().nullable(),
          seconds: z.int().nullable(),
          characters: z.int().optional(),
          usd: z.string(),
        }),
      ),
      limits: z.looseObject({ size: z.looseObject({ tiers: z.unknown().optional() }).optional() }),
      lifecycle: z.looseObject({}),
    }),
  ),
});

const { data: models } = listSchema.parse(await (await fetch(`${gateway.url}/api/models`)).json());
type Model = (typeof models)[number];

const receiptSchema = z.object({
  outcome: z.string(),
  usage: z.record(z.string(), z.int()).nullable(),
  prices_usd: prices.nullable(),
  cost_usd: z.string().nullable(),
});

/** Exact product of a decimal string and a count, in units of 1e-18 USD. */
const DECIMALS = 18;
const exact = (amount: string): bigint => {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(DECIMALS, '0'));
};

const promptCounts = ['input', 'cache_read', 'cache_write', 'cache_write_1h', 'image_input', 'cached_image_input'];

interface Asked {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> | FormData;
  /** Size of the request, for prices by size. */
  readonly size?: string | undefined;
  readonly pixels?: number;
  readonly sizeTier?: string | undefined;
}

const send = ({ path, body }: Asked, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.apiKey}`,
      'x-goog-api-key': gateway.apiKey,
      'anthropic-version': '2023-06-01',
      ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body instanceof FormData ? body : JSON.stringify(body),
  });

/** Sends a request and returns its receipt once it has ended. */
const receiptFor = async (asked: Asked) => {
  const response = await send(asked);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${asked.path} ${text.slice(0, 500)}`);
  const videoId = asked.path === '/v1/videos' ? z.object({ id: z.string() }).parse(JSON.parse(text)).id : undefined;
  const id = videoId ?? response.headers.get('x-request-id') ?? '';
  return until('the receipt', async () => {
    const found = await fetch(`${gateway.url}/api/usage/${id}`, {
      headers: { authorization: `Bearer ${gateway.apiKey}` },
    });
    const receipt = found.status === 200 ? receiptSchema.parse(await found.json()) : undefined;
    return receipt && receipt.outcome !== 'open' ? receipt : undefined;
  });
};

const recording = (): File => {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ] as const)
    head.writeUInt16LE(value, at);
  head.writeUInt32LE(16_000, 24);
  head.writeUInt32LE(32_000, 28);
  head.write('data', 36);
  return new File([Uint8Array.from(Buffer.concat([head, Buffer.alloc(48_000)]))], 'silence.wav');
};

const formOf = (fields: Readonly<Record<string, string | File>>): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
};

/** A prompt that is long enough for a plausible count of `input` tokens (BILL-7). */
const promptWith = (input: number): string =>
  `Hello [[usage-prompt ${input}]] [[cached 300]] [[cache-write 50]] [[tokens 70]] [[reasoning 30]]${' so'.repeat(input / 3)}`;

/** One prompt for each length tier of the model. */
const prompts = (model: Model): readonly string[] =>
  [...new Set(model.prices.map(({ when }) => when.input_tokens_above))].map((above) =>
    promptWith(above < 0 ? 900 : above + 1_000),
  );

const long = 'word '.repeat(6_000);
const cached = [
  { type: 'text', text: `One hour. ${long}`, cache_control: { type: 'ephemeral', ttl: '1h' } },
  { type: 'text', text: `Five minutes. ${long}`, cache_control: { type: 'ephemeral' } },
];

const sizesOf = (model: Model): readonly Omit<Asked, 'path' | 'body'>[] => {
  const examples = [...new Set(model.examples.map(({ size }) => size ?? undefined))];
  const { tiers } = model.limits.size ?? {};
  const tierOf = (size: string): string | undefined =>
    Array.isArray(tiers) || typeof tiers !== 'object' || tiers === null
      ? undefined
      : Object.entries(tiers).find(([, sizes]) => Array.isArray(sizes) && sizes.includes(size))?.[0];
  return examples.map((size) => {
    if (size === undefined) return {};
    const [width, height] = size.split('x').map(Number);
    const edge = { '1K': 1_024, '1.5K': 1_536, '2K': 2_048 }[size] ?? 4_096;
    const pixels = height === undefined ? edge ** 2 : (width ?? 0) * height;
    return { size, pixels, sizeTier: tierOf(size) };
  });
};

const requests: Readonly<Record<string, (model: Model) => readonly Asked[]>> = {
  chat_completions: (model) =>
    prompts(model).map((content) => ({
      path: '/v1/chat/completions',
      body: { model: model.id, messages: [{ role: 'user', content }], max_completion_tokens: 2_000 },
    })),
  responses: (model) =>
    prompts(model).map((input) => ({
      path: '/v1/responses',
      body: { model: model.id, input, max_output_tokens: 2_000 },
    })),
  messages: (model) =>
    prompts(model).map((content) => ({
      path: '/v1/messages',
      body: { model: model.id, system: cached, messages: [{ role: 'user', content }], max_tokens: 2_000 },
    })),
  generate_content: (model) =>
    prompts(model).map((text) => ({
      path: `/v1beta/models/${model.id}:generateContent`,
      body: { contents: [{ role: 'user', parts: [{ text }] }], generationConfig: { maxOutputTokens: 2_000 } },
    })),
  images_generations: (model) =>
    sizesOf(model).map((sized) => ({
      path: '/v1/images/generations',
      ...sized,
      body: {
        model: model.id,
        prompt: 'A paper boat',
        ...(sized.size === undefined ? {} : { size: sized.size }),
        ...(/^(flux|seedream)/.test(model.id) ? references(model.id) : {}),
      },
    })),
  images_edits: (model) =>
    sizesOf(model).map((sized) => ({
      path: '/v1/images/edits',
      ...sized,
      body: formOf({
        model: model.id,
        prompt: 'A paper boat',
        image: new File([Uint8Array.from(png())], 'one.png', { type: 'image/png' }),
        ...(sized.size === undefined ? {} : { size: sized.size }),
      }),
    })),
  videos: (model) =>
    [...new Set(model.examples.map(({ size }) => size ?? ''))].map((size) => ({
      path: '/v1/videos',
      size,
      body: { model: model.id, prompt: 'A paper boat [[takes 10]]', seconds: '4', size },
    })),
  audio_transcriptions: ({ id }) => [
    { path: '/v1/audio/transcriptions', body: formOf({ model: id, file: recording(), prompt: 'Quiet' }) },
  ],
  audio_speech: ({ id }) => [
    { path: '/v1/audio/speech', body: { model: id, voice: 'nova', input: 'Good evening \u{1f600}' } },
  ],
  embeddings: ({ id }) => [{ path: '/v1/embeddings', body: { model: id, input: ['one two three', 'four'] } }],
  moderations: ({ id }) => [{ path: '/v1/moderations', body: { model: id, input: 'hello' } }],
};

const references = (id: string): object =>
  id.startsWith('flux')
    ? { input_image: `data:image/png;base64,${png(640, 480).toString('base64')}` }
    : { image: ['https://images.example/one.png', 'https://images.example/two.png'] };

const table = models.flatMap((model) => model.protocols.map((protocol) => [model.id, protocol, model] as const));

const today = new Date(gateway.now()).toISOString().slice(0, 10);

const priceFor = (model: Model, protocol: string, asked: Asked, usage: Readonly<Record<string, number>>) => {
  const tokens = promptCounts.reduce((sum, name) => sum + (usage[name] ?? 0), 0);
  const { pixels = 0 } = asked;
  const found = model.prices.filter(
    ({ protocols, from, until: end, when }) =>
      protocols.includes(protocol) &&
      (from ?? today) <= today &&
      today <= (end ?? today) &&
      tokens > when.input_tokens_above &&
      tokens <= when.input_tokens_max &&
      pixels > when.pixels_above &&
      pixels <= when.pixels_max &&
      (when.size_tier === undefined || when.size_tier === asked.sizeTier) &&
      (when.sizes === undefined || when.sizes.includes(asked.size ?? '')),
  );
  expect(found).toHaveLength(1);
  return found[0]?.prices_usd ?? {};
};

// Images and videos of some providers are polled, so the models wait concurrently.
test.concurrent.for(table)(
  'CAT-2 BILL-3 the published price of %s on %s times the usage is the charge',
  async ([, protocol, model]) => {
    const asked = requests[protocol]?.(model) ?? [];
    expect(asked.length).toBeGreaterThan(0);
    for (const each of asked) {
      const receipt = await receiptFor(each);
      const usage = receipt.usage ?? {};
      expect(receipt.outcome).toBe('charged');
      const published = priceFor(model, protocol, each, usage);
      const counted = Object.entries(usage).filter(([, count]) => count > 0);
      if (Object.values(published).some((price) => price !== '0')) expect(counted.length).toBeGreaterThan(0);
      for (const [name] of counted) expect([name, receipt.prices_usd?.[name]]).toEqual([name, published[name]]);
      const product = counted.reduce((sum, [name, count]) => sum + exact(published[name] ?? '') * BigInt(count), 0n);
      expect(product).toBe(exact(receipt.cost_usd ?? ''));
    }
  },
);

const paidExamples = models.flatMap((model) =>
  model.examples.flatMap((example) => {
    const { size, quality, seconds } = example;
    if (model.kind !== 'image' && model.kind !== 'video') return [];
    const body = {
      model: model.id,
      prompt: 'x',
      ...(size === null ? {} : { size }),
      ...(quality === null ? {} : { quality }),
      ...(seconds === null ? {} : { seconds: String(seconds) }),
    };
    return [[model.id, JSON.stringify([size, quality, seconds]), example, body, model] as const];
  }),
);

/** Largest hold of an image by tokens, compared with its example: the hold estimates the area of other sizes. */
const HOLD_TIMES = 2.5;

/** Share of a hold by tokens that covers the prompt and text beside the image, in USD. */
const PROMPT_USD = 0.06;

test.for(paidExamples)(
  'CAT-2 BILL-16 the example %s %s is the hold of that request',
  async ([, , { usd }, body, model]) => {
    const path = model.kind === 'video' ? '/v1/videos' : '/v1/images/generations';
    const response = await send({ path, body }, { 'x-service-dry-run': 'true' });
    const dry = z.object({ hold_usd: z.string(), prices_usd: prices }).parse(await response.json());
    const published = model.prices.map(({ prices_usd }) => prices_usd);
    expect(published).toContainEqual(dry.prices_usd);
    if (published.some((each) => 'image_output' in each)) {
      expect(Number(dry.hold_usd)).toBeGreaterThanOrEqual(Number(usd));
      expect(Number(dry.hold_usd)).toBeLessThanOrEqual(Number(usd) * HOLD_TIMES + PROMPT_USD);
      return;
    }
    // A hold by megapixel rounds each image up to a whole megapixel.
    const isByMegapixel = 'first_megapixel' in dry.prices_usd;
    const spare = isByMegapixel ? exact(dry.prices_usd.extra_milli_megapixel ?? '') * 1_000n : 0n;
    expect(exact(dry.hold_usd) - exact(usd)).toBeGreaterThanOrEqual(0n);
    expect(exact(dry.hold_usd) - exact(usd)).toBeLessThanOrEqual(spare);
  },
);

test('CAT-2 speech and transcription have an example of a minute at their published price', () => {
  for (const { id, kind, prices: rows, examples } of models.filter(({ kind: each }) =>
    /speech|transcription/.test(each),
  )) {
    expect([id, examples.length]).toEqual([id, 1]);
    const [{ seconds, characters = 0, usd } = { seconds: 0, usd: '' }] = examples;
    const { second, character, audio_input: audio } = rows[0]?.prices_usd ?? {};
    expect(seconds).toBe(60);
    if (kind === 'speech') expect(exact(usd)).toBe(exact(character ?? '') * BigInt(characters));
    else if (second) expect(exact(usd)).toBe(exact(second) * 60n);
    else expect(exact(usd)).toBeGreaterThan(exact(audio ?? '') * 600n);
  }
});

test('OPS-3 a record has the bill of the provider without the markup, and its receipt has not', async () => {
  const asked = {
    path: '/v1/chat/completions',
    body: {
      model: 'gpt-6.2-sol',
      messages: [{ role: 'user', content: promptWith(900) }],
      max_completion_tokens: 2_000,
    },
  };
  const response = await send(asked);
  expect(response.status).toBe(200);
  const id = response.headers.get('x-request-id') ?? '';
  const record = (await gateway.recordsOf(gateway.accountId)).find(({ requestId }) => requestId === id);
  // 550 tokens of input, 300 read from a cache, 50 written to it at 1.25 times input, and 70 of output.
  const bill = 550n * 2_000_000n + 300n * 100_000n + 50n * 2_500_000n + 70n * 10_000_000n;
  expect(record?.costPicos).toBe(bill);
  expect(record?.amountPicos).toBe(((900n * 2_000_000n + 70n * 10_000_000n) * 12n) / 10n);
  const receipt = await fetch(`${gateway.url}/api/usage/${id}`, {
    headers: { authorization: `Bearer ${gateway.apiKey}` },
  });
  const shown = await receipt.text();
  expect(shown).toContain(formatUsd(record?.amountPicos ?? 0n));
  expect(shown).not.toContain(formatUsd(bill));
});
