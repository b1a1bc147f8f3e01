import Anthropic, * as anthropicErrors from '@anthropic-ai/sdk';
import * as anthropicStatusErrors from '@anthropic-ai/sdk/error';
import { ApiError } from '@google/genai';
import OpenAI, * as openaiErrors from 'openai';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { BODY_BYTES_MAX } from '../../lambdas/limits.ts';
import type { Scenario } from '../../local/simulators/scenario.ts';
import { errorShapes } from '../support/error-shapes.ts';
import { MODEL, saying, sdkFor, spentBy } from '../support/gateway-chat.ts';
import { GEMINI, googleFor } from '../support/google-client.ts';
import { anthropicFor, HAIKU, thrownBy } from '../support/messages-client.ts';
import { PRO } from '../support/responses-client.ts';
import { vendorKey } from '../support/vendor-environment.ts';
import { penniless, startSimulated } from './simulated-gateway.ts';

const { vendor, gateway, another } = await startSimulated();
const poor = await another(penniless);

/** Returns the gateway with a named API key that has a cap. */
const capped = async (limit_usd: string) => {
  const response = await fetch(`${gateway.url}/api/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Shop', limit_usd, limit_period: 'month' }),
  });
  const made = z.object({ id: z.string(), key: z.string() }).parse(await response.json());
  return { ...gateway, apiKey: made.key, keyId: made.id };
};
const nothingLeft = await capped('0.000000000001');

interface Change {
  readonly model?: string;
  /** Maximum number of output tokens. */
  readonly cap?: number;
}

/** An SDK's names for the parts of a gateway error. */
interface Seen {
  readonly status: number;
  readonly code: string;
  readonly type: string;
  readonly param: string | null;
}

/** A protocol with the SDK of its company. */
interface Sdk {
  readonly name: string;
  readonly model: string;
  readonly keyParam: string;
  readonly capParam: string;
  /** Base class of every error, also within a stream. */
  readonly base: unknown;
  readonly company: 'openai' | 'anthropic' | 'google';
  ask(payer: typeof gateway, change: Change): PromiseLike<unknown>;
  /** Reads the stream to its end. */
  stream(payer: typeof gateway, change: Change): PromiseLike<unknown>;
  see(error: unknown): Seen;
  /** Error classes by HTTP status. */
  readonly classes: Readonly<Record<number, unknown>>;
}

const openai = {
  company: 'openai',
  keyParam: 'Authorization',
  base: OpenAI.APIError,
  classes: {
    400: openaiErrors.BadRequestError,
    401: openaiErrors.AuthenticationError,
    402: openaiErrors.APIError,
    404: openaiErrors.NotFoundError,
    429: openaiErrors.RateLimitError,
    502: openaiErrors.InternalServerError,
    503: openaiErrors.InternalServerError,
    504: openaiErrors.InternalServerError,
  },
  see: (error: unknown): Seen => {
    if (!(error instanceof OpenAI.APIError)) throw new Error(`not an APIError: ${error}`);
    const { status, code, type, param } = error;
    return { status, code: code ?? '', type: type ?? '', param: param ?? null };
  },
} as const;

const anthropic = {
  company: 'anthropic',
  keyParam: 'x-api-key',
  base: Anthropic.APIError,
  classes: {
    400: anthropicErrors.BadRequestError,
    401: anthropicErrors.AuthenticationError,
    402: anthropicStatusErrors.PaymentRequiredError,
    404: anthropicErrors.NotFoundError,
    429: anthropicErrors.RateLimitError,
    502: anthropicErrors.InternalServerError,
    503: anthropicStatusErrors.ServiceUnavailableError,
    504: anthropicStatusErrors.GatewayTimeoutError,
  },
  see: (error: unknown): Seen => {
    if (!(error instanceof Anthropic.APIError)) throw new Error(`not an APIError: ${error}`);
    const { message, request_id, code, type, param } = errorShapes.messages.parse(error.error);
    expect([error.apiMessage, error.requestID, error.type]).toEqual([message, request_id, type]);
    return { status: error.status, code, type, param };
  },
} as const;

const ofGoogle = (payer: typeof gateway, { model = GEMINI, cap }: Change) => ({
  models: googleFor(payer).models,
  params: { model, contents: 'hello', config: cap ? { maxOutputTokens: cap } : {} },
});

const sdks: readonly Sdk[] = [
  {
    ...openai,
    name: 'chat',
    model: MODEL,
    capParam: 'max_tokens',
    ask: (payer, { model = MODEL, cap: max_tokens = null }) =>
      sdkFor(payer).chat.completions.create({ model, messages: saying('hello'), max_tokens }),
    stream: (payer, { model = MODEL, cap: max_tokens = null }) =>
      sdkFor(payer)
        .chat.completions.stream({ model, messages: saying('hello'), max_tokens })
        .done(),
  },
  {
    ...openai,
    name: 'responses',
    model: PRO,
    capParam: 'max_output_tokens',
    ask: (payer, { model = PRO, cap = null }) =>
      sdkFor(payer).responses.create({ model, input: 'hello', max_output_tokens: cap }),
    stream: (payer, { model = PRO, cap = null }) =>
      sdkFor(payer).responses.stream({ model, input: 'hello', max_output_tokens: cap }).done(),
  },
  {
    ...anthropic,
    name: 'messages',
    model: HAIKU,
    capParam: 'max_tokens',
    ask: (payer, { model = HAIKU, cap = 500 }) =>
      anthropicFor(payer).messages.create({ model, messages: saying('hello'), max_tokens: cap }),
    stream: (payer, { model = HAIKU, cap = 500 }) =>
      anthropicFor(payer)
        .messages.stream({ model, messages: saying('hello'), max_tokens: cap })
        .finalMessage(),
  },
  {
    name: 'generateContent',
    company: 'google',
    model: GEMINI,
    keyParam: 'x-provider-api-key',
    capParam: 'generationConfig.maxOutputTokens',
    base: ApiError,
    classes: {},
    ask: (payer, change) => {
      const { models, params } = ofGoogle(payer, change);
      return models.generateContent(params);
    },
    stream: async (payer, change) => {
      const { models, params } = ofGoogle(payer, change);
      return Array.fromAsync(await models.generateContentStream(params));
    },
    see: (error) => {
      if (!(error instanceof ApiError)) throw new Error(`not an ApiError: ${error}`);
      const { http, status, code, param } = errorShapes.generate_content.parse(JSON.parse(error.message));
      expect(http).toBe(error.status);
      return { status: http, code, type: status, param };
    },
  },
];

interface Failure {
  readonly rule: string;
  readonly what: string;
  readonly status: number;
  readonly code: string;
  /** Error type in each company's format. */
  readonly types: Readonly<Record<Sdk['company'], string>>;
  readonly scenario?: Scenario;
  readonly payer?: typeof gateway;
  readonly change?: (sdk: Sdk) => Change;
  readonly param?: (sdk: Sdk) => string;
}

/** Checks the printed error: the status once if the SDK prints it, and the gateway's message once. */
const expectReadable = (error: unknown, status: number, { company }: Sdk): void => {
  const printed = error instanceof Error ? error.message.replace(/"request_id":"\w+"/, '') : '';
  expect(printed).not.toMatch(/\[object|undefined/);
  const [, text = ''] = /"message":"((?:[^"\\]|\\.)+)"/.exec(printed) ?? ['', printed.replace(/^\d{3} /, '')];
  expect(text).toMatch(/^[A-Za-z].*\.$/);
  expect(printed.split(text)).toHaveLength(2);
  expect(printed.split(String(status))).toHaveLength(2);
  if (company === 'openai') expect(printed).toBe(`${status} ${text}`);
};

const refusal = (status: number): Scenario => ({ refusal: { kind: 'status', status } });
const wrong = { ...gateway, apiKey: 'sk-service-unknown' };
const types = (openai: string, anthropic: string, google: string) => ({ types: { openai, anthropic, google } });
const request = 'invalid_request_error';

const failures: readonly Failure[] = [
  {
    ...{ rule: 'AUTH-4', what: 'a wrong key', status: 401, code: 'invalid_api_key' },
    ...types('authentication_error', 'authentication_error', 'UNAUTHENTICATED'),
    ...{ payer: wrong, param: ({ keyParam }) => keyParam },
  },
  {
    ...{ rule: 'AUTH-4', what: 'an empty balance', status: 402, code: 'insufficient_balance' },
    ...types('insufficient_balance', 'billing_error', 'FAILED_PRECONDITION'),
    ...{ payer: poor },
  },
  {
    ...{ rule: 'KEY-9', what: 'a cap of its key', status: 402, code: 'key_limit_exceeded' },
    ...types('insufficient_balance', 'billing_error', 'FAILED_PRECONDITION'),
    ...{ payer: nothingLeft },
  },
  {
    ...{ rule: 'CAT-6', what: 'an unknown model', status: 404, code: 'model_not_found' },
    ...types(request, 'not_found_error', 'NOT_FOUND'),
    ...{ change: ({ model }) => ({ model: `${model}-x` }), param: () => 'model' },
  },
  {
    ...{ rule: 'BILL-4', what: 'a cap beyond 100 USD', status: 400, code: 'request_budget_exceeded' },
    ...types(request, request, 'INVALID_ARGUMENT'),
    ...{ change: () => ({ cap: 100_000_000 }), param: ({ capParam }) => capParam },
  },
  {
    ...{ rule: 'ERR-9', what: 'a capacity limit of the provider', status: 429, code: 'upstream_capacity' },
    ...types('rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED'),
    ...{ scenario: refusal(429) },
  },
  {
    ...{ rule: 'ERR-9', what: 'a failure of the provider', status: 502, code: 'upstream_error' },
    ...types('upstream_error', 'api_error', 'UNAVAILABLE'),
    ...{ scenario: refusal(500) },
  },
  {
    ...{ rule: 'ERR-9', what: 'an unavailable provider', status: 503, code: 'service_unavailable' },
    ...types('service_unavailable', 'overloaded_error', 'UNAVAILABLE'),
    ...{ scenario: refusal(503) },
  },
  {
    ...{ rule: 'ERR-9', what: 'a timeout of the provider', status: 504, code: 'upstream_timeout' },
    ...types('upstream_error', 'timeout_error', 'DEADLINE_EXCEEDED'),
    ...{ scenario: refusal(504) },
  },
];

test.each(failures.flatMap((failure) => sdks.map((sdk) => ({ ...failure, sdk, name: sdk.name }))))(
  '$rule the SDK of $name throws its class for $what, free of charge',
  async ({ sdk, status, code, types, scenario, payer = gateway, change = () => ({}), param = () => null }) => {
    for (const call of [sdk.ask, sdk.stream]) {
      if (scenario) vendor.next(scenario);
      const before = await gateway.untilSettled();
      const error = await thrownBy(call(payer, change(sdk)));
      expect(sdk.see(error)).toEqual({ status, code, type: types[sdk.company], param: param(sdk) });
      expect(error).toBeInstanceOf(sdk.classes[status] ?? sdk.base);
      expectReadable(error, status, sdk);
      expect(JSON.stringify(error)).not.toContain(vendorKey);
      expect((await gateway.untilSettled()).balance).toBe(before.balance);
    }
    // Neither the SDKs nor the gateway retry here (GEN-5).
    expect(vendor.requests).toHaveLength(scenario ? 2 : 0);
  },
);

test.each(sdks)('KEY-9 the SDK of $name shows the cap of a named key and its reset', async (sdk) => {
  const error = await thrownBy(sdk.ask(nothingLeft, {}));
  expect(String(error)).toContain('0.000000000001 USD per month (UTC).');
  expect(String(error)).toMatch(
    /The cap resets at \d{4}-\d\d-01T00:00:00Z\. Raise the cap, or send a shorter prompt\./,
  );
});

test.each(sdks)('KEY-9 the SDK of $name works with a named key, whose cap shows the charge', async (sdk) => {
  const payer = await capped('5');
  const { spent } = await spentBy(gateway, async () => sdk.ask(payer, { cap: 100 }));
  expect(spent).toBeGreaterThan(0n);
  const headers = { authorization: `Bearer ${gateway.apiKey}` };
  const shown = await (await fetch(`${gateway.url}/api/keys/${payer.keyId}`, { headers })).json();
  expect(shown).toMatchObject({ spent_usd: formatUsd(spent), held_usd: '0' });
});

test.each(sdks)('ERR-9 the SDK of $name throws an error within a stream, free of charge', async (sdk) => {
  vendor.next({ errorAfter: 6, words: 30 });
  const { result: error, spent } = await spentBy(gateway, () => thrownBy(sdk.stream(gateway, {})));
  expect(vendor.requests[0]?.eventsSent).toBeGreaterThan(5);
  expect(error).toBeInstanceOf(sdk.base);
  expect(`${JSON.stringify(error)} ${error}`).toMatch(/upstream_(?:error|capacity)|UNAVAILABLE/);
  expect(spent).toBe(0n);
});

test('ERR-2 the SDKs read the retry seconds that the provider names', async () => {
  vendor.setScenario(() => ({ refusal: { kind: 'status', status: 429, retryAfterSeconds: 7 } }));
  for (const sdk of sdks.slice(0, 3)) {
    const error = await thrownBy(sdk.ask(gateway, {}));
    expect(error).toMatchObject({ headers: expect.any(Headers) });
    expect(Object(error).headers.get('retry-after')).toBe('7');
  }
});

test('GEN-1 the SDK of Anthropic throws ContentTooLargeError for a body above 20 MiB', async () => {
  const body = { model: HAIKU, max_tokens: 10, messages: saying('x'.repeat(BODY_BYTES_MAX)) };
  const error = await thrownBy(anthropicFor(gateway).messages.create(body));
  expect(error).toBeInstanceOf(anthropicStatusErrors.ContentTooLargeError);
  expect(error).toMatchObject({ status: 413 });
});
