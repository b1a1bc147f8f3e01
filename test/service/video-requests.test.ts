import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { png } from '../lambdas/protocols/videos/images.ts';
import type { TestGateway } from '../support/gateway.ts';
import { until } from '../support/gateway-process.ts';
import { type ServerGroup, startServerGroup } from '../support/server-group.ts';
import {
  type Answer,
  customerOf,
  expectCharges,
  expectDelivered,
  FUNDS_PICOS,
  openJobs,
  refusalIn,
  VIDEO_COST,
  VIDEO_MODEL,
  type VideoCustomer,
  videoIn,
} from '../support/video-service-customer.ts';

let vendor: Simulator;
let group: ServerGroup;
let jobs: ReturnType<typeof openJobs>;
let gateway: TestGateway;
let opened = 0;

beforeAll(async () => {
  vendor = await startSimulator();
  group = await startServerGroup();
  jobs = openJobs(group);
  gateway = await group.start({
    vendorUrl: vendor.url,
    environment: { VIDEO_POLL_SECONDS: '1', VIDEO_POLL_SECONDS_MAX: '1' },
  });
});
afterAll(async () => {
  jobs?.close();
  await group?.stop();
  await vendor?.stop();
});
beforeEach(() => vendor.reset());

async function newCustomer(): Promise<VideoCustomer> {
  opened += 1;
  return customerOf(await group.openAccount(`customer-${opened}`, FUNDS_PICOS), gateway.url);
}

const creations = () => vendor.requests.filter(({ method }) => method === 'POST');

const isReplayed = ({ headers }: Answer): boolean => headers.get('idempotent-replayed') === 'true';

const sendForm = (customer: VideoCustomer, fields: Readonly<Record<string, string | File>>, headers = {}) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return customer.send('POST', '/v1/videos', { body: form, headers });
};

const frame = (width: number, height: number): File =>
  new File([Uint8Array.from(png(width, height))], 'first.png', { type: 'image/png' });

test('IDEM-2 IDEM-3 a key brings the same video and the same bytes, before its end and after, and another body 422', async () => {
  const customer = await newCustomer();
  const key = { 'idempotency-key': 'one' };
  const first = await customer.create('[[takes 100]]', {}, key);
  const { id } = videoIn(first);
  const before = await customer.create('[[takes 100]]', {}, key);
  await expectDelivered(group, jobs, { customer, id });
  const after = await customer.create('[[takes 100]]', {}, key);
  expect([before.text, after.text]).toEqual([first.text, first.text]);
  expect([first, before, after].map(isReplayed)).toEqual([false, true, true]);

  const other = await customer.create('[[takes 100]]', { seconds: '8' }, key);
  expect(refusalIn(other).slice(0, 2)).toEqual([422, 'idempotency_key_mismatch']);
  expect((await customer.list()).map((video) => video.id)).toEqual([id]);
  expect(creations()).toHaveLength(1);
  await expectCharges(group, customer.account, [VIDEO_COST]);
});

test('IDEM-4 IDEM-8 ten requests under a key at once make one video', async () => {
  const customer = await newCustomer();
  const key = { 'idempotency-key': 'ten' };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () =>
      until('an answer', async () => {
        const answer = await customer.create('[[takes 100]] [[delay 300]]', {}, key);
        if (answer.status === 200) return answer;
        expect(refusalIn(answer).slice(0, 2)).toEqual([409, 'idempotency_in_progress']);
        expect(answer.headers.get('retry-after')).toBe('5');
        return undefined;
      }),
    ),
  );
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers.filter((answer) => !isReplayed(answer))).toHaveLength(1);
  expect(creations()).toHaveLength(1);
  const { id } = videoIn(answers[0]!);
  await expectDelivered(group, jobs, { customer, id });
  expect(await customer.list()).toHaveLength(1);
});

test('IDEM-5 a form under a key is 400, and nothing is held', async () => {
  const customer = await newCustomer();
  const answer = await sendForm(customer, { model: VIDEO_MODEL, prompt: 'x' }, { 'idempotency-key': 'form' });
  expect(refusalIn(answer).slice(0, 2)).toEqual([400, 'idempotency_not_supported']);
  await expectUntouched(customer);
});

/** Nothing was held, asked for or kept. */
async function expectUntouched({ account: { accountId }, list }: VideoCustomer): Promise<void> {
  expect(await group.store.readAccount(accountId)).toMatchObject({ availablePicos: FUNDS_PICOS, version: 1 });
  expect(creations()).toEqual([]);
  expect(await list()).toEqual([]);
}

test('VID-2 a first frame of another size is 400 naming both, and one of this size reaches the vendor', async () => {
  const customer = await newCustomer();
  const fields = { model: VIDEO_MODEL, prompt: '[[takes 100]]', size: '720x1280' };
  for (const [width, height] of [
    [1_280, 720],
    [720, 1_281],
    [1, 1],
  ] as const) {
    const wrong = await sendForm(customer, { ...fields, input_reference: frame(width, height) });
    expect(refusalIn(wrong)).toEqual([400, 'invalid_size', 'input_reference']);
    expect(wrong.text).toContain(`${width}x${height}`);
    expect(wrong.text).toContain('720x1280');
  }
  await expectUntouched(customer);

  const { id } = videoIn(await sendForm(customer, { ...fields, input_reference: frame(720, 1_280) }));
  const [creation, ...others] = creations();
  expect(others).toEqual([]);
  expect(creation?.body).toMatchObject({
    ratio: '9:16',
    content: [
      { type: 'text' },
      {
        type: 'image_url',
        role: 'first_frame',
        image_url: { url: `data:image/png;base64,${Buffer.from(png(720, 1_280)).toString('base64')}` },
      },
    ],
  });
  await expectDelivered(group, jobs, { customer, id });
});

test('AUTH-7 VID-4 VID-8 a video is nobody else’s, has no content before its end, and is not deleted while it runs', async () => {
  const [owner, other] = [await newCustomer(), await newCustomer()];
  const { id } = videoIn(await owner.create('[[takes 4000]]'));
  const asked = async (customer: VideoCustomer): Promise<Answer[]> => [
    await customer.send('GET', `/v1/videos/${id}`),
    await customer.send('GET', `/v1/videos/${id}/content`),
    await customer.send('DELETE', `/v1/videos/${id}`),
  ];
  const codes = (answers: readonly Answer[]) => answers.map((answer) => refusalIn(answer).slice(0, 2));
  const missing = [404, 'not_found'];
  expect(codes(await asked(other))).toEqual([missing, missing, missing]);
  const [seen, ...refused] = await asked(owner);
  expect(videoIn(seen!).id).toBe(id);
  expect(codes(refused)).toEqual([
    [409, 'video_not_ready'],
    [409, 'video_in_progress'],
  ]);
  await expectDelivered(group, jobs, { customer: owner, id });
  expect(codes(await asked(other))).toEqual([missing, missing, missing]);
  expect(await other.list()).toEqual([]);
  expect((await asked(owner)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(codes(await asked(owner))).toEqual([missing, missing, missing]);
  // What it cost stays.
  await expectCharges(group, owner.account, [VIDEO_COST]);
});

test.for([
  'http://127.0.0.1:8080/',
  'http://[::1]/',
  'https://10.0.0.1/',
  'http://169.254.169.254/',
  'ftp://a.example/',
])('VID-7 the webhook_url %s is 400, and nothing is held', async (webhook_url) => {
  const customer = await newCustomer();
  const answer = await customer.create('[[takes 100]]', { webhook_url });
  expect(refusalIn(answer)).toEqual([400, 'invalid_request_error', 'webhook_url']);
  await expectUntouched(customer);
});

const MANY = 50;

test('VID-5 VID-6 fifty videos of two accounts at once all end, each charged once or, if it fails, never', async () => {
  const customers = [await newCustomer(), await newCustomer()];
  const made = await Promise.all(
    Array.from({ length: MANY }, async (_, turn) => {
      const customer = customers[turn % customers.length]!;
      const fails = turn % 5 === 4;
      const { id } = videoIn(await customer.create(`[[takes ${turn * 20}]] ${fails ? '[[video-fails]]' : ''}`));
      return { customer, id, status: fails ? 'failed' : 'completed' };
    }),
  );
  const endings = await Promise.all(made.map(async ({ customer, id }) => (await customer.untilEnded(id)).status));
  expect(endings).toEqual(made.map(({ status }) => status));
  for (const customer of customers) {
    const own = made.filter((one) => one.customer === customer);
    const charged = own.filter(({ status }) => status === 'completed');
    await expectCharges(
      group,
      customer.account,
      Array.from(charged, () => VIDEO_COST),
    );
    expect(new Set((await customer.list()).map(({ id }) => id))).toEqual(new Set(own.map(({ id }) => id)));
  }
  expect(creations()).toHaveLength(MANY);
});
