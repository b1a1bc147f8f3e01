import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { spawnLocal, until, within } from '../support/gateway-process.ts';
import { newFolder, startProgram, type TestProgram } from '../support/program.ts';

interface Received {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let vendor: Simulator;
let receiver: Server;
let receiverUrl: string;
const received: Received[] = [];

beforeAll(async () => {
  vendor = await startSimulator();
  receiver = createServer(async (request, response) => {
    received.push({ path: request.url, headers: request.headers, body: (await buffer(request)).toString() });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const address = receiver.address();
  if (address === null || typeof address === 'string') throw new Error('the system named no port');
  receiverUrl = `http://localhost:${address.port}`;
});
afterAll(async () => {
  receiver?.close();
  receiver?.closeAllConnections();
  await vendor?.stop();
});

const callApi = async ({ url, apiKey }: TestProgram, path: string, body?: object) => {
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
};

/** Checks a delivery with the client library of OpenAI. Throws if the signature is wrong. */
const verify = ({ headers, body }: Received, secret: string): Promise<{ readonly type: string }> => {
  const { webhooks } = new OpenAI({ apiKey: 'unused' });
  const sent = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  return webhooks.unwrap(body, Object.fromEntries(sent), secret);
};

const videoTo = (webhook_url: string) => ({
  model: 'seedance-2-0-fast',
  prompt: 'A lighthouse [[takes 100]]',
  seconds: '4',
  webhook_url,
});

describe('with LOCAL_WEBHOOKS=on', () => {
  let program: TestProgram;
  beforeAll(async () => {
    program = await startProgram({ vendorUrl: vendor.url, environment: { LOCAL_WEBHOOKS: 'on' } });
  });
  afterAll(() => program?.stop());

  test('HOOK-4 a test event and a video reach a server on this machine, and a library verifies them', async () => {
    const { secret } = (await callApi(program, '/api/webhooks/secret')).body;
    const tested = await callApi(program, '/api/webhooks/test', { url: `${receiverUrl}/test` });
    expect(tested).toMatchObject({ status: 200, body: { delivered: true, status: 204, error: null } });
    expect((await callApi(program, '/v1/videos', videoTo(`${receiverUrl}/video`))).status).toBe(200);
    const video = await until('the webhook of the video', () => received.find(({ path }) => path === '/video'));
    const event = received.find(({ path }) => path === '/test')!;
    expect(await verify(event, secret)).toMatchObject({ type: 'webhook.test' });
    expect(await verify(video, secret)).toMatchObject({ type: 'video.completed' });
    await expect(verify(event, `whsec_${Buffer.alloc(32).toString('base64')}`)).rejects.toThrow(/signature/i);
  });

  test('HOOK-4 the URL of an image keeps its rules', async () => {
    const image_url = { url: `${receiverUrl}/image.png` };
    const content = [{ type: 'image_url', image_url }];
    const model = 'gemini-3.8-flash';
    const { status, body } = await callApi(program, '/v1/chat/completions', {
      model,
      messages: [{ role: 'user', content }],
    });
    expect([status, body.error.message]).toEqual([400, expect.stringMatching(/port|public/)]);
    expect(received.filter(({ path }) => path === '/image.png')).toEqual([]);
  });
});

describe('without LOCAL_WEBHOOKS', () => {
  let program: TestProgram;
  beforeAll(async () => {
    program = await startProgram({ vendorUrl: vendor.url });
  });
  afterAll(() => program?.stop());

  test('HOOK-4 a server on this machine is rejected, and the message names the setting', async () => {
    const before = received.length;
    const problem = `the URL is on this machine. Start the gateway with LOCAL_WEBHOOKS=on, or use ${program.url}/local/webhooks/inbox.`;
    expect(await callApi(program, '/api/webhooks/test', { url: receiverUrl })).toMatchObject({
      status: 400,
      body: { error: { message: `url: ${problem}`, param: 'url' } },
    });
    expect(await callApi(program, '/v1/videos', videoTo(receiverUrl))).toMatchObject({
      status: 400,
      body: { error: { message: `webhook_url: ${problem}`, param: 'webhook_url' } },
    });
    expect([received.length, (await program.account()).openHolds]).toEqual([before, 0]);
  });

  test('HOOK-4 the inbox of the program receives a test event, and a library verifies it', async () => {
    const { secret } = (await callApi(program, '/api/webhooks/secret')).body;
    const inbox = `${program.url}/local/webhooks/inbox`;
    expect(await callApi(program, '/api/webhooks/test', { url: inbox })).toMatchObject({
      status: 200,
      body: { delivered: true, status: 200 },
    });
    const { deliveries } = (await callApi(program, '/local/webhooks')).body;
    expect(await verify(deliveries[0], secret)).toMatchObject({ type: 'webhook.test' });
  });
});

test('HOOK-4 the production mode does not start with LOCAL_WEBHOOKS', async () => {
  const program = spawnLocal({ MODE: 'production', CREDITS: 'off', DATA_DIR: newFolder(), LOCAL_WEBHOOKS: 'on' });
  expect(await within('the end of the program', program.end)).toBe(2);
  expect(program.stderr()).toContain('LOCAL_WEBHOOKS: is only for development.');
  expect(program.stdout()).not.toContain('ready');
});
