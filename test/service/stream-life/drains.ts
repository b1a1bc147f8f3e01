import { until, within } from '../../support/gateway-process.ts';
import { readError } from '../../support/hostile-oracle.ts';
import { type LivingClient, openClient } from '../../support/stream-life-client.ts';
import { padding } from './cases.ts';
import type { Face } from './faces.ts';
import type { Stage } from './run.ts';
import { scriptOf } from './scripts.ts';

const counts = { input: 30, output: 20 };

/** Of every stream here. */
export const drainCounts = counts;

const SAID = 'w0';

/** A stream that its client leaves in the middle, and that the vendor ends once `gate` is open. */
export const leaveStream = async (
  { port, vendor }: Stage,
  apiKey: string,
  face: Face,
  tag: string,
  gate: Promise<void>,
): Promise<void> => {
  const { events, words } = scriptOf(face.wire, tag, counts);
  const place = words[0]?.place ?? 0;
  vendor.plan(tag, async (stream) => {
    for (const event of events.slice(0, place)) await stream.send(event);
    await gate;
    for (const event of events.slice(place)) await stream.send(event);
    stream.end();
  });
  const client = await openClient(port, face.request(apiKey, tag));
  await client.saw(`${SAID}-${tag}`);
  await client.leave('closes');
};

/** The same of a client that stays and reads nothing of nine MiB. */
export const neverRead = async (
  { port, vendor }: Stage,
  apiKey: string,
  face: Face,
  tag: string,
  gate: Promise<void>,
): Promise<LivingClient> => {
  const { events, finished } = scriptOf(face.wire, tag, counts, padding);
  const sent = Promise.withResolvers<void>();
  vendor.plan(tag, async (stream) => {
    for (const event of events.slice(0, finished - 1)) await stream.send(event);
    sent.resolve();
    await gate;
    for (const event of events.slice(finished - 1)) await stream.send(event);
    stream.end();
  });
  const client = await openClient(port, face.request(apiKey, tag), false);
  await within('nine MiB', sent.promise);
  return client;
};

/** One whole stream: its status and, if that is no good one, why and for how long. */
export const askOnce = async (
  { port, vendor }: Stage,
  apiKey: string,
  face: Face,
  tag: string,
  headers: readonly string[] = [],
) => {
  vendor.plan(tag, async (stream) => {
    for (const event of scriptOf(face.wire, tag, counts).events) await stream.send(event);
    stream.end();
  });
  const client = await openClient(port, face.request(apiKey, tag, headers));
  const reply = await within('an answer', client.end);
  if ('brokenOff' in reply) throw new Error(`the answer was broken off: ${reply.brokenOff.slice(-300)}`);
  const calls = vendor.calls(tag);
  if (reply.status === 200) return { status: 200, calls };
  const { code } = readError(reply, face.shape);
  return { status: reply.status, calls, code, retryAfter: reply.headers.get('retry-after') };
};

/** Asks what a request would cost, which calls nobody, until it is answered so. */
export const untilAnswered = (stage: Stage, apiKey: string, face: Face, status: number): Promise<true> =>
  until(`an answer of ${status}`, async () => {
    const reply = await askOnce(stage, apiKey, face, 'tag-dry', ['x-service-dry-run: true']);
    return reply.status === status ? true : undefined;
  });
