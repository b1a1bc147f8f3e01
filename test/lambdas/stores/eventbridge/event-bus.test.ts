import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import type { CloudEvent } from '../../../../lambdas/core/event-publisher.ts';
import { usageEventsDependenciesFromEnvironment } from '../../../../lambdas/functions/wiring/usage-events-handler.ts';
import { createEventBus } from '../../../../lambdas/stores/eventbridge/event-bus.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { noTables } from '../../../support/memory/memory-stores.ts';

const BUS = 'arn:aws:events:us-east-1:123456789012:event-bus/usage';

const callSchema = z.object({
  Entries: z.array(
    z.strictObject({
      EventBusName: z.string(),
      Source: z.string(),
      DetailType: z.string(),
      Detail: z.string(),
      Time: z.number().optional(),
    }),
  ),
});
type Call = z.output<typeof callSchema>['Entries'];

/** Error code of each entry of a call, or undefined if it is accepted. A string fails the whole call. */
type Script = (call: Call, turn: number) => readonly (string | undefined)[] | string;

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

const startBus = async (script: Script = (call) => call.map(() => undefined)) => {
  const calls: Call[] = [];
  const targets = new Set<unknown>();
  const server = createServer(async (request, response) => {
    response.sendDate = false;
    targets.add(request.headers['x-amz-target']);
    const { Entries } = callSchema.parse(await json(request));
    const codes = script(Entries, calls.length);
    calls.push(Entries);
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    if (typeof codes === 'string') {
      response.writeHead(400).end(JSON.stringify({ __type: codes, message: 'm' }));
      return;
    }
    const results = codes.map((ErrorCode, index) => (ErrorCode ? { ErrorCode } : { EventId: `id-${index}` }));
    const failed = codes.filter(Boolean).length;
    response.end(JSON.stringify({ FailedEntryCount: failed, Entries: results }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new EventBridgeClient({
    endpoint,
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  endings.push(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  const clock = new ManualClock();
  const waits: number[] = [];
  const publish = createEventBus({
    client: async () => client,
    bus: BUS,
    clock: {
      now: () => clock.now(),
      // Timers run immediately, so that the real connection needs no manual time.
      after: (delayMs, callback) => {
        waits.push(delayMs);
        clock.skip(delayMs);
        setImmediate(callback);
        return () => undefined;
      },
    },
    random: () => 0.5,
  });
  return { calls, targets, waits, clock, publish, endpoint };
};

const eventOf = (number: number, padding = ''): CloudEvent => ({
  specversion: '1.0',
  id: `acme/${number}`,
  source: 'gateway-prod',
  type: 'usage.recorded.v1',
  subject: String(number),
  time: '2026-11-20T12:00:00.000Z',
  datacontenttype: 'application/json',
  data: { padding },
});
const eventsOf = (count: number, padding?: string) =>
  Array.from({ length: count }, (_, index) => eventOf(index, padding));

const idsOf = (call: Call | undefined): readonly string[] => (call ?? []).map(({ Detail }) => JSON.parse(Detail).id);

test('OPS-20 an entry has the event as its detail, and the source and time of the event', async () => {
  const { publish, calls, targets } = await startBus();
  expect(await publish([eventOf(1)])).toEqual({ failed: new Set() });
  expect([...targets]).toEqual(['AWSEvents.PutEvents']);
  expect(calls).toEqual([
    [
      {
        EventBusName: BUS,
        Source: 'gateway-prod',
        DetailType: 'usage',
        Detail: JSON.stringify(eventOf(1)),
        Time: Date.parse('2026-11-20T12:00:00.000Z') / 1_000,
      },
    ],
  ]);
});

test('OPS-20 a call has at most ten entries, in order', async () => {
  const { publish, calls } = await startBus();
  await publish(eventsOf(23));
  expect(calls.map(({ length }) => length)).toEqual([10, 10, 3]);
  expect(calls.flatMap(idsOf)).toEqual(eventsOf(23).map(({ id }) => id));
});

test('OPS-20 a call has at most 256 kB, and a larger event has a call of its own', async () => {
  const { publish, calls } = await startBus();
  await publish([...eventsOf(3, 'x'.repeat(100_000)), eventOf(9, 'x'.repeat(300_000)), eventOf(10)]);
  expect(calls.map(idsOf)).toEqual([['acme/0', 'acme/1'], ['acme/2'], ['acme/9'], ['acme/10']]);
});

test('OPS-20 only the failed entries of a call are sent again', async () => {
  const { publish, calls, waits } = await startBus((call, turn) =>
    turn === 0 ? call.map((_, index) => (index === 1 ? 'ThrottlingException' : undefined)) : call.map(() => undefined),
  );
  expect(await publish(eventsOf(3))).toEqual({ failed: new Set() });
  expect(calls.map(idsOf)).toEqual([['acme/0', 'acme/1', 'acme/2'], ['acme/1']]);
  expect(waits).toEqual([200]);
});

test('OPS-20 an entry that fails three times is returned with its error code', async () => {
  const { publish, calls, waits } = await startBus((call) =>
    call.map(({ Detail }) => (Detail.includes('"acme/1"') ? 'InternalFailure' : undefined)),
  );
  expect(await publish(eventsOf(3))).toEqual({ failed: new Set(['acme/1']), reason: 'InternalFailure' });
  expect([calls.length, waits]).toEqual([3, [200, 800]]);
});

test('OPS-20 a call that fails returns all of its events, and later calls are made', async () => {
  const { publish } = await startBus((call) =>
    idsOf(call).includes('acme/0') ? 'AccessDeniedException' : call.map(() => undefined),
  );
  const { failed, reason } = await publish(eventsOf(12));
  expect([...failed]).toEqual(eventsOf(10).map(({ id }) => id));
  expect(reason).toBe('AccessDeniedException');
});

test('OPS-20 a response without a result for an entry confirms nothing', async () => {
  const { publish } = await startBus(() => []);
  expect(await publish([eventOf(1)])).toEqual({ failed: new Set(['acme/1']), reason: 'no confirmation' });
});

test('OPS-20 after 30 s no further call is made, and the rest is returned', async () => {
  const scene = await startBus((call) => {
    scene.clock.skip(31_000);
    return call.map(() => undefined);
  });
  const { failed, reason } = await scene.publish(eventsOf(12));
  expect([[...failed], reason, scene.calls.length]).toEqual([['acme/10', 'acme/11'], 'no time is left', 1]);
});

test('OPS-20 the function publishes to the bus of its settings, and a dead bus fails every event', async () => {
  const { calls, endpoint } = await startBus();
  const environment = { ...noTables, AWS_REGION: 'us-east-1', USAGE_EVENTS_BUS: 'usage', LOG_FORMAT: 'line' };
  const { publish, source } = usageEventsDependenciesFromEnvironment({ ...environment, EVENTS_ENDPOINT: endpoint });
  expect(await publish([eventOf(1)])).toEqual({ failed: new Set() });
  expect([calls[0]?.[0]?.EventBusName, source]).toEqual(['usage', 'gateway-local']);
  const dead = usageEventsDependenciesFromEnvironment({ ...environment, EVENTS_ENDPOINT: 'http://127.0.0.1:9' });
  expect((await dead.publish([eventOf(1)])).failed).toEqual(new Set(['acme/1']));
});
