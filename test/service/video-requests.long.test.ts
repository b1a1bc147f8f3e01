import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { until } from '../support/gateway-process.ts';
import type { TestProgram } from '../support/program.ts';
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
  type VideoCustomer,
  videoIn,
} from './videos/customer.ts';

let vendor: Simulator;
let group: ServerGroup;
let jobs: ReturnType<typeof openJobs>;
let gateway: TestProgram;
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

test('IDEM-2 IDEM-3 a key returns the same video and bytes at any time, and 422 for another body', async () => {
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

test('IDEM-4 IDEM-8 ten concurrent requests with one key create one video', async () => {
  const customer = await newCustomer();
  const key = { 'idempotency-key': 'ten' };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () =>
      until('a response', async () => {
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

test('AUTH-7 VID-4 VID-8 a running video is private, has no content, and is not deleted', async () => {
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
  // The charge of the deleted video remains.
  await expectCharges(group, owner.account, [VIDEO_COST]);
});

const MANY = 50;

test('VID-5 VID-6 fifty videos of two accounts end, each charged once or, if it fails, never', async () => {
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
