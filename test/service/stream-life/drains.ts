import { within } from '../../support/gateway-process.ts';
import { readError } from '../../support/hostile-oracle.ts';
import { type LivingClient, openClient } from '../../support/stream-life-client.ts';
import { padding } from './cases.ts';
import type { Face } from './faces.ts';
import type { Stage } from './run.ts';
import { scriptOf } from './scripts.ts';

const counts = { input: 30, output: 20 };

/** Usage of every stream in this file. */
export const drainCounts = counts;

const SAID = 'w0';

/** Opens a stream and leaves it. The provider ends it when `gate` is open. */
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

/** Opens a stream of nine MiB, stays and reads nothing. */
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

/** Sends one stream. Returns its status and, if it is not 200, its code and retry time. */
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
  const reply = await within('a response', client.end);
  if ('brokenOff' in reply) throw new Error(`the response broke off: ${reply.brokenOff.slice(-300)}`);
  const calls = vendor.calls(tag);
  if (reply.status === 200) return { status: 200, calls };
  const { code } = readError(reply, face.shape);
  return { status: reply.status, calls, code, retryAfter: reply.headers.get('retry-after') };
};
