import { afterAll, describe, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { spentBy } from '../support/gateway-chat.ts';
import { tokenPricesOf } from '../support/protocol-prices.ts';
import { vendorKey } from '../support/vendor-environment.ts';
import { rowsOfTier } from '../tiers.ts';
import { bothCalls, CAP, cities } from './aimock/bodies.ts';
import { type Face, faces, failureOf } from './aimock/faces.ts';
import { always, startIndependentVendor } from './aimock/vendor.ts';

const vendor = await startIndependentVendor();
const gateway = await startGateway({ vendorUrl: vendor.url });
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

const usage = { usage: { prompt_tokens: 1_234, completion_tokens: 567 } };
const text = { content: 'Hello, dear independent friend.', ...usage };
/**
 * The package ends Gemini's calls with FUNCTION_CALL, which `FinishReason` of @google/genai 3.1.0 does not have. The
 * test uses STOP.
 */
const callsFor = ({ model }: Face) => ({
  toolCalls: bothCalls,
  ...usage,
  ...(model.startsWith('gemini') ? { finishReason: 'STOP' } : {}),
});

const priceOf = async (model: string): Promise<bigint> => {
  const prices = await tokenPricesOf(gateway, model);
  return prices.atOneRate({ input: 1_234, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 567, reasoning: 0 });
};

const asked = ['system Be brief.', 'user Weather?'];
const called = bothCalls.map((call) => `assistant ${call.id} weather ${call.arguments}`);
const returned = cities.map(({ id, result }) => `tool ${id} ${result}`);
const settings = ['tool weather', `cap ${CAP}`];

const usualHeaders = /^(?:accept|accept-encoding|connection|content-length|content-type|host|transfer-encoding)$/;
const ownHeaders = (model: string): readonly string[] => {
  if (model.startsWith('claude')) return ['anthropic-version', 'x-api-key'];
  return model.startsWith('gemini') ? ['x-goog-api-key'] : ['authorization'];
};

const refusals = [
  { status: 400, expected: [400, 'invalid_request_error'] },
  { status: 401, expected: [503, 'service_unavailable'] },
  { status: 402, expected: [503, 'service_unavailable'] },
  { status: 404, expected: [503, 'model_unavailable'] },
  { status: 429, expected: [429, 'upstream_capacity'] },
  { status: 500, expected: [502, 'upstream_error'] },
  { status: 503, expected: [503, 'service_unavailable'] },
  { status: 529, expected: [429, 'upstream_capacity'] },
].map(({ status, expected }) => {
  const error = { message: 'error from the provider', type: 'some_type', code: 'some_code' };
  return { what: `${status}`, expected, says: { status, error }, options: {} };
});
const faults = [
  { fault: 'drop' as const, expected: [502, 'upstream_error'] },
  { fault: 'malformed' as const, expected: [502, 'upstream_error'] },
  { fault: 'rateLimit' as const, expected: [429, 'upstream_capacity'] },
  { fault: 'disconnect' as const, expected: [502, 'upstream_error'] },
].map(({ fault, expected }) => ({ what: fault, expected, says: text, options: always(fault) }));

/** Failures to test. The quick tier has each error code once, because `native-failures` covers the failures there. */
const failures = rowsOfTier([...refusals, ...faults], ({ expected }) => String(expected));

const ways = faces.flatMap((face) => [
  { ...face, how: 'plain', streamed: false },
  { ...face, how: 'streamed', streamed: true },
]);

describe.each(ways)('$name, $how', (face) => {
  const { model, streamed } = face;
  const ask = (answered: boolean) => face.ask(gateway, answered, streamed);

  test('BILL-3 CHAT-5 RESP-1 MSG-6 GEM-4 tool calls and results are forwarded and charged by usage', async () => {
    vendor.says(callsFor(face));
    const first = await spentBy(gateway, () => ask(false));
    const calls = cities.map(({ id, city }) => ({ id, city }));
    expect(first.result).toEqual({ text: '', calls, ended: face.ends.calling, usage: [1_234, 567] });
    expect(first.spent).toBe(await priceOf(model));
    expect(vendor.understood()).toEqual([...asked, ...settings]);

    vendor.says(text);
    const second = await spentBy(gateway, () => ask(true));
    expect(second.result).toEqual({ text: text.content, calls: [], ended: face.ends.done, usage: [1_234, 567] });
    expect(second.spent).toBe(await priceOf(model));
    expect(vendor.understood()).toEqual([...asked, ...called, ...returned, ...settings]);
  });

  test("BILL-6 the provider gets one request with its own API's fields and the provider key only", async () => {
    for (const answered of [false, true]) {
      vendor.says(text);
      await ask(answered);
      expect(vendor.sent.map(({ path, body }) => ({ path, body }))).toEqual([face.sends(answered, streamed)]);
      const headers = vendor.sent[0]?.headers ?? {};
      expect(Object.keys(headers).filter((name) => !usualHeaders.test(name))).toEqual(ownHeaders(model));
      expect(JSON.stringify(headers)).toContain(vendorKey);
      expect(JSON.stringify(vendor.sent)).not.toContain(gateway.apiKey);
    }
  });

  test.each(failures)('ERR-9 $what leads to $expected, free of charge', async ({ what, says, options, expected }) => {
    vendor.says(says, options);
    const { result, spent } = await spentBy(gateway, () => failureOf(ask(false)));
    const keepsStatus = face.name === 'messages' && what === '529';
    expect(result).toEqual(keepsStatus ? [529, 'upstream_capacity'] : expected);
    expect(spent).toBe(0n);
    expect(vendor.sent).toHaveLength(1);
  });
});

test.each(ways)('BILL-3 a response that ends at the token cap reports it and is charged: $name, $how', async (face) => {
  vendor.says({ ...text, finishReason: 'length' });
  const { result, spent } = await spentBy(gateway, () => face.ask(gateway, false, face.streamed));
  expect(result).toMatchObject({ text: text.content, ended: face.ends.capped });
  expect(spent).toBe(await priceOf(face.model));
});
