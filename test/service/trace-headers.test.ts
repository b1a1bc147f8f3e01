import { afterAll, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { startSimulator } from '../../local/simulators/server.ts';
import { png } from '../support/image-service.ts';
import { startInProcess } from '../support/in-process-gateway.ts';
import { startCollector } from '../support/otlp-collector.ts';
import { vendorKey } from '../support/vendor-environment.ts';
import { silence } from './silence.ts';

const collector = await startCollector();
const vendor = await startSimulator();
const RELAYED = 'gpt-image-2-prompt';
const FORMER = 'sora-2';
const modelSchema = z.looseObject({ id: z.string(), upstreams: z.array(z.looseObject({})).default([]) });
const { providers, companies } = z
  .looseObject({
    providers: z.looseObject({ providers: z.array(z.looseObject({ id: z.string() })) }),
    companies: z.looseObject({ openai: z.looseObject({ models: z.array(modelSchema) }) }),
  })
  .parse(catalogData);
const changed = (model: z.output<typeof modelSchema>): object => {
  if (model.id === FORMER) return { ...model, enabled: true };
  if (model.id !== RELAYED) return model;
  const [own] = model.upstreams;
  return { ...model, upstreams: [{ ...own, provider: 'relay' }] };
};
/** The catalog, with one model that only the relay serves, and with the video model of OpenAI. */
const catalog = {
  ...catalogData,
  providers: { providers: providers.providers.map((row) => (row.id === 'relay' ? { ...row, enabled: true } : row)) },
  companies: { ...companies, openai: { models: companies.openai.models.map(changed) } },
};
const startedAtMs = performance.now();
const gateway = await startInProcess({
  vendorUrl: vendor.url,
  environment: {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    RELAY_API_KEY: vendorKey,
    RELAY_BASE_URL: `${vendor.url}/v1`,
  },
  catalog,
  // A date on which OpenAI has its video model.
  now: () => Date.UTC(2026, 8, 1) + Math.floor(performance.now() - startedAtMs),
});
beforeEach(() => vendor.reset());
afterAll(async () => {
  for (const { stop } of [gateway, vendor, collector]) await stop();
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
/** Trace context of the client, in the forms of W3C, Zipkin and AWS. */
const context = {
  traceparent: `00-${TRACE}-${SPAN}-01`,
  tracestate: 'vendor=state-of-the-client',
  baggage: 'user=baggage-of-the-client',
  b3: `${TRACE}-${SPAN}-1`,
  'x-amzn-trace-id': `Root=1-${TRACE.slice(0, 8)}-${TRACE.slice(8)}`,
};

const values = [TRACE, SPAN, TRACE.slice(8), 'of-the-client'];

const formOf = (fields: Readonly<Record<string, string | File>>): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
};
const picture = (): File => new File([Uint8Array.from(png(256, 256))], 'one.png', { type: 'image/png' });
const text = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };
const messages = [{ role: 'user', content: 'hello' }];

type Sent = readonly [path: string, body: object];
type Row = readonly [provider: string, wire: string, kind: string, model: string, requests: readonly Sent[]];

const drawn = (model: string): Sent => ['/v1/images/generations', { model, prompt: 'a cat', size: '1024x1024' }];
const images = (model: string): readonly Sent[] => [
  drawn(model),
  ['/v1/images/edits', formOf({ model, prompt: 'a cat', image: picture(), size: '1024x1024' })],
];
const videos = (model: string, size: string): readonly Sent[] => [
  ['/v1/videos', { model, prompt: 'a cat', seconds: '4', size }],
  ['/v1/videos', formOf({ model, prompt: 'a cat', seconds: '4', size })],
];

/** Requests of every provider, wire and kind of model. */
const rows: readonly Row[] = [
  ['openai', 'openai_chat', 'text', 'gpt-5.4', [['/v1/chat/completions', { model: 'gpt-5.4', messages }]]],
  ['openai', 'openai_responses', 'text', 'gpt-5.5-pro', [['/v1/responses', { model: 'gpt-5.5-pro', input: 'hello' }]]],
  [
    'anthropic',
    'anthropic_messages',
    'text',
    'claude-haiku-4-5',
    [
      ['/v1/messages', { model: 'claude-haiku-4-5', max_tokens: 50, messages }],
      ['/v1/messages/count_tokens', { model: 'claude-haiku-4-5', messages }],
    ],
  ],
  [
    'google',
    'gemini_generate_content',
    'text',
    'gemini-3.8-flash',
    [
      ['/v1beta/models/gemini-3.8-flash:generateContent', text],
      ['/v1beta/models/gemini-3.8-flash:countTokens', text],
    ],
  ],
  ['openai', 'openai_images', 'image', 'gpt-image-2', images('gpt-image-2')],
  ['relay', 'openai_images', 'image', RELAYED, images(RELAYED)],
  [
    'google',
    'gemini_generate_content_image',
    'image',
    'gemini-nano-banana-2.1',
    [['/v1/images/generations', { model: 'gemini-nano-banana-2.1', prompt: 'a cat' }]],
  ],
  ['byteplus', 'ark_images', 'image', 'seedream-4-0', [drawn('seedream-4-0')]],
  ['bfl', 'bfl_async', 'image', 'flux-2-pro', [drawn('flux-2-pro')]],
  ['byteplus', 'ark_video_tasks', 'video', 'seedance-2-0', videos('seedance-2-0', '1280x720')],
  ['openai', 'openai_videos', 'video', FORMER, videos(FORMER, '1280x720')],
  [
    'openai',
    'openai_audio',
    'transcription',
    'gpt-transcribe',
    [
      [
        '/v1/audio/transcriptions',
        formOf({
          model: 'gpt-transcribe',
          file: new File([Uint8Array.from(silence())], 'silence.wav', { type: 'audio/wav' }),
        }),
      ],
    ],
  ],
  [
    'openai',
    'openai_audio',
    'speech',
    'tts-1',
    [['/v1/audio/speech', { model: 'tts-1', input: 'hi', voice: 'alloy' }]],
  ],
  [
    'openai',
    'openai_moderations',
    'moderation',
    'omni-moderation-latest',
    [['/v1/moderations', { model: 'omni-moderation-latest', input: 'hello' }]],
  ],
  [
    'openai',
    'openai_embeddings',
    'embedding',
    'text-embedding-3-small',
    [['/v1/embeddings', { model: 'text-embedding-3-small', input: 'hello' }]],
  ],
];

const { entries } = loadCatalog(catalogData, { markup: '1' });

test('OPS-19 the table has a row for every provider and wire of the catalog', () => {
  const own = entries.flatMap(({ id, kind, upstreams }) =>
    upstreams.map(({ provider, wire }) => ({ id, row: `${provider} ${wire} ${kind}` })),
  );
  const tested = rows.map(([provider, wire, kind]) => `${provider} ${wire} ${kind}`);
  expect([...new Set(own.map(({ row }) => row))].toSorted()).toEqual(tested.toSorted());
  for (const [provider, wire, kind, model] of rows)
    expect(own).toContainEqual({ id: model, row: `${provider} ${wire} ${kind}` });
});

test.each(rows)(
  'OPS-19 %s gets no trace context over %s for a model of kind %s',
  async (_provider, _wire, kind, _, sent) => {
    const { apiKey } = await gateway.issue({ balanceUsd: '100' });
    for (const [path, body] of sent) {
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: {
          ...context,
          authorization: `Bearer ${apiKey}`,
          'x-api-key': apiKey,
          'x-goog-api-key': apiKey,
          'anthropic-version': '2023-06-01',
        },
        body: body instanceof FormData ? body : JSON.stringify(body),
      });
      const answer = await response.text();
      expect([path, response.status, response.status === 200 ? '' : answer]).toEqual([path, 200, '']);
    }
    // A video is polled and downloaded after its creation.
    if (kind === 'video') await expect.poll(() => vendor.requests.length).toBeGreaterThan(sent.length);
    const calls = vendor.requests.filter(({ method }) => method === 'POST');
    expect(calls.length).toBe(sent.length);
    for (const { path, headers, bytes } of vendor.requests) {
      const names = Object.keys(context).filter((name) => name in headers);
      const received = JSON.stringify(headers) + Buffer.from(bytes).toString('latin1');
      expect([path, names, values.filter((value) => received.includes(value))]).toEqual([path, [], []]);
    }
  },
);
