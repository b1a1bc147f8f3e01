import { ApiError } from '@google/genai';
import { expect, test } from 'vitest';
import { startSimulated } from '../simulated.ts';

const model = 'gemini-3.8-flash';
const { simulator, google } = await startSimulated();

async function raisedBy(run: () => Promise<unknown>): Promise<ApiError> {
  const raised = await run().then(
    () => undefined,
    (error) => error,
  );
  expect(raised).toBeInstanceOf(ApiError);
  return raised;
}

test('a request without a key gets 403, and an unknown model gets 404', async () => {
  const url = `${simulator.url}/v1beta/models/${model}:generateContent`;
  const keyless = await fetch(url, { method: 'POST', body: '{}' });
  expect([keyless.status, JSON.parse(await keyless.text()).error.status]).toEqual([403, 'PERMISSION_DENIED']);
  const unknown = await raisedBy(() => google.models.generateContent({ model: 'gemini-1.5-pro', contents: 'Hi' }));
  expect(unknown.status).toBe(404);
  expect(unknown.message).toContain(
    'models/gemini-1.5-pro is not found for API version v1beta, or is not supported for generateContent.',
  );
  const missing = await raisedBy(() => google.models.get({ model: 'nothing' }));
  expect(JSON.parse(missing.message).error.message).toBe('Model is not found: models/nothing for api version v1beta');
});

test('a prompt above the token limit is rejected', async () => {
  const contents = 'x'.repeat(5 * 1_048_577);
  const raised = await raisedBy(() => google.models.generateContent({ model, contents }));
  expect(JSON.parse(raised.message).error.message).toBe(
    'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
  );
});

test('a body that is not a JSON object is rejected', async () => {
  for (const body of ['no json', '[]', '']) {
    const url = `${simulator.url}/v1beta/models/${model}:generateContent?key=test`;
    const response = await fetch(url, { method: 'POST', body });
    expect([response.status, JSON.parse(await response.text()).error.status]).toEqual([400, 'INVALID_ARGUMENT']);
  }
});

test('an invalid page token or page size is rejected', async () => {
  for (const query of ['pageToken=x', 'pageSize=-1', 'pageSize=1.5']) {
    const response = await fetch(`${simulator.url}/v1beta/models?key=test&${query}`);
    expect([query, response.status]).toEqual([query, 400]);
  }
});

test('an invalid token count request is rejected', async () => {
  const generateContentRequest = { model: `models/${model}`, contents: [{ parts: [{ text: 'The quick brown fox' }] }] };
  const url = `${simulator.url}/v1beta/models/${model}:countTokens?key=test`;
  const post = (body: object) => fetch(url, { method: 'POST', body: JSON.stringify(body) });
  expect((await post({ generateContentRequest })).status).toBe(200);
  for (const body of [{}, { generateContentRequest, contents: [] }, { text: 'x' }]) {
    expect((await post(body)).status).toBe(400);
  }
});

test('the usage adds up, and the last chunk of a stream has the same usage', async () => {
  const { usageMetadata: usage } = await google.models.generateContent({ model, contents: 'Hello' });
  const {
    promptTokenCount: prompt = 0,
    candidatesTokenCount: said = 0,
    thoughtsTokenCount: thoughts = 0,
  } = usage ?? {};
  expect([prompt > 0, said > 0, usage?.totalTokenCount]).toEqual([true, true, prompt + said + thoughts]);
  let last: unknown;
  for await (const chunk of await google.models.generateContentStream({ model, contents: 'Hello' })) last = chunk;
  expect(last).toMatchObject({ usageMetadata: usage, candidates: [{ finishReason: 'STOP' }] });
});
