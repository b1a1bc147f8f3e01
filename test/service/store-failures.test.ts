import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startTestDynamodb, type TestDynamodb } from '../support/dynamodb.ts';
import { startTestBucket, type TestBucket } from '../support/fault-proxy-bucket.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { allEvents, errorSchema, postChat, readError, saying } from '../support/gateway-chat.ts';
import { within } from '../support/gateway-process.ts';

let vendor: Simulator;
let database: TestDynamodb;
let bucket: TestBucket;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = await startSimulator();
});
afterAll(() => vendor.stop());
beforeEach(async () => {
  [database, bucket] = await Promise.all([startTestDynamodb(), startTestBucket()]);
  gateway = await startGateway({
    vendorUrl: vendor.url,
    environment: { DYNAMODB_ENDPOINT: database.endpoint, S3_ENDPOINT: bucket.endpoint },
  });
});
afterEach(async () => {
  await gateway.stop();
  await Promise.all([database.stop(), bucket.stop()]);
  vendor.reset();
});

const body = { messages: saying('hello') };

test('BILL-14 with the store down nothing goes to the vendor, and what needs no store still answers', async () => {
  expect((await postChat(gateway, body)).status).toBe(200);
  await database.stop();
  const response = await postChat(gateway, body);
  expect([response.status, (await readError(response)).code]).toEqual([503, 'service_unavailable']);
  expect(response.headers.get('retry-after')).toBe('30');
  expect(vendor.requests).toHaveLength(1);
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  expect((await fetch(`${gateway.url}/api/models`)).status).toBe(200);
});

test('BILL-14 a good answer whose charge was noted is served, plain and streamed', async () => {
  const gate = vendor.gate();
  const pending = Promise.all([postChat(gateway, body), postChat(gateway, { ...body, stream: true })]);
  await within('the requests at the vendor', gate.waitFor(2));
  await database.stop();
  gate.open();
  const [plain, stream] = await pending;
  expect([plain.status, plain.headers.has('x-service-cost-usd'), plain.headers.has('x-service-balance-usd')]).toEqual([
    200,
    true,
    false,
  ]);
  expect(await plain.text()).toContain('You wrote');
  expect((await allEvents(stream)).at(-1)).toBe('[DONE]');
  expect(gateway.output().match(/settled_by_note/g)).toHaveLength(2);
});

test('BILL-14 a good answer that can be neither charged nor noted is withheld', async () => {
  const gate = vendor.gate();
  const pending = postChat(gateway, body);
  await within('the request at the vendor', gate.waitFor(1));
  await Promise.all([database.stop(), bucket.stop()]);
  gate.open();
  const response = await pending;
  const text = await response.text();
  expect(vendor.requests[0]?.outcome).toBe('answered');
  expect(response.status).toBe(503);
  expect(errorSchema.parse(JSON.parse(text)).error.code).toBe('service_unavailable');
  expect(text.includes('You wrote')).toBe(false);
});

test('BILL-14 a stream that can be neither charged nor noted ends in an error event without [DONE]', async () => {
  vendor.next({ words: 30, pauseMs: 10 });
  const response = await postChat(gateway, { ...body, stream: true });
  expect(response.status).toBe(200);
  await Promise.all([database.stop(), bucket.stop()]);
  const events = await allEvents(response);
  expect(vendor.requests[0]?.outcome).toBe('answered');
  expect(events.includes('[DONE]')).toBe(false);
  expect(errorSchema.parse(JSON.parse(events.at(-1) ?? '')).error.code).toBe('service_unavailable');
  expect(events.slice(0, -1).some((event) => event.includes('"finish_reason":"stop"'))).toBe(false);
});
