import { once } from 'node:events';
import http from 'node:http';
import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTextHandler } from '../../../../lambdas/functions/wiring/text-handler.ts';
import { installLambdaRuntime, streaming } from '../../../../lambdas/host/lambda-runtime.ts';
import { startHost } from '../../../../lambdas/host/server.ts';
import { type ImageGateway, startImageGateway } from './image-gateway.ts';

const MODEL = 'gemini-3-pro-image';
const PROMPT = 'Draw [[image-bytes 6000000]]';

let gateway: ImageGateway;
let host: Awaited<ReturnType<typeof startHost>>;

beforeAll(async () => {
  gateway = await startImageGateway();
  installLambdaRuntime();
  const text = streaming(createTextHandler(gateway.parts));
  host = await startHost({
    handlers: { text, videos: text, images: text, audio: text, content: text, catalog: text, account: text },
    port: 0,
    address: '127.0.0.1',
    now: gateway.parts.clock.now,
    newRequestId: gateway.parts.newRequestId,
    onCrash: (error) => {
      throw error;
    },
  });
});
afterAll(async () => {
  await host.stop(0);
  await gateway.simulator.stop();
});

test("GEM-4 the provider's SDK reads an image of 6 MB from a stream", async () => {
  const google = new GoogleGenAI({
    apiKey: gateway.apiKey,
    httpOptions: { baseUrl: `http://127.0.0.1:${host.port}` },
  });
  const stream = await google.models.generateContentStream({ model: MODEL, contents: PROMPT });
  const images: number[] = [];
  const reasons: unknown[] = [];
  for await (const { candidates = [] } of stream) {
    for (const { content, finishReason } of candidates) {
      if (finishReason) reasons.push(finishReason);
      for (const { inlineData } of content?.parts ?? []) {
        if (inlineData) images.push(Buffer.from(inlineData.data ?? '', 'base64').length);
      }
    }
  }
  expect(images).toEqual([expect.any(Number)]);
  expect(images[0]).toBeGreaterThanOrEqual(6_000_000);
  expect(reasons).toEqual(['STOP']);
});

test.for(['?alt=sse', ''])('BILL-8 a client that reads late is not dropped for one large event %s', async (query) => {
  const over = gateway.finished.length + 1;
  const request = http.request({
    port: host.port,
    method: 'POST',
    path: `/v1beta/models/${MODEL}:streamGenerateContent${query}`,
    headers: { 'x-goog-api-key': gateway.apiKey, 'content-type': 'application/json' },
  });
  request.end(JSON.stringify({ contents: [{ role: 'user', parts: [{ text: PROMPT }] }] }));
  const [response] = await once(request, 'response');
  await expect.poll(() => gateway.finished.length, { timeout: 15_000 }).toBe(over);
  let text = '';
  for await (const piece of response) text += piece;
  expect(text.length).toBeGreaterThan(8_000_000);
  expect(text).toMatch(query === '' ? /"finishReason":"STOP".*\]$/s : /"finishReason":"STOP".*\n\n$/s);
});
