import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { markAsCut } from '../../../lambdas/http/cut-answers.ts';
import { connectTo, request } from './raw-client.ts';
import { answerWith, startHostWith } from './started-host.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const connected = async (handle: Parameters<typeof startHostWith>[0]) => {
  const host = await startHostWith(handle);
  stops.push(host.stop);
  const client = await connectTo(host.port);
  client.send(request(['GET / HTTP/1.1', 'Host: localhost']));
  return client;
};

test('CHAT-11 a response with its length is not chunked', async () => {
  const client = await connected((_, stream) => answerWith(stream, 200, 'héllo', { 'content-length': '6' }));
  await expect.poll(client.text).toContain('llo');
  expect(client.text()).toContain('content-length: 6\r\n');
  expect(client.text()).not.toContain('chunked');
});

test('CHAT-11 the pieces of a stream are chunks, each sent before the next exists', async () => {
  let end = (): void => undefined;
  const client = await connected(async (_, stream) => {
    stream.write('first');
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    stream.end('last');
  });
  await expect.poll(client.text).toContain('\r\n\r\n5\r\nfirst\r\n');
  end();
  await expect.poll(client.text).toContain('4\r\nlast\r\n0\r\n\r\n');
});

test('BILL-9 a cut response of one piece never looks complete', async () => {
  const client = await connected(async (event, stream) => {
    markAsCut(event);
    await answerWith(stream, 200, 'cut', { 'content-length': '3' });
  });
  await expect.poll(client.isClosed).toBe(true);
  await nextTurn();
  expect(client.text()).not.toContain('cut');
});
