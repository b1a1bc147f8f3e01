import { expect, test } from 'vitest';
import { startSimulator } from '../../../local/simulators/server.ts';
import { readToEnd, startSimulated } from './simulated.ts';

const { simulator, openai } = await startSimulated();

function post(content: string, more: object = {}, signal?: AbortSignal) {
  const body = JSON.stringify({ model: 'gpt-4.1-mini', messages: [{ role: 'user', content }], ...more });
  const headers = { authorization: 'Bearer sk-test' };
  return fetch(`${simulator.url}/v1/chat/completions`, { method: 'POST', headers, body, signal, redirect: 'manual' });
}

const streamed = { stream: true, stream_options: { include_usage: true } };

/** Returns the data of the events that arrived, and whether the connection ended properly. */
async function readEvents(content: string, more: object = {}) {
  const response = await post(content, { ...streamed, ...more });
  const { text, whole } = await readToEnd(response);
  const events = text.split('\n\n').filter(Boolean);
  return { status: response.status, whole, events: events.map((event) => event.slice('data: '.length)) };
}

test.each([
  ['[[status 500]]', 500, { type: 'server_error', code: null }],
  ['[[status 503]]', 503, { code: 'server_is_overloaded' }],
  ['[[status 429 retry-after 7]]', 429, { code: 'rate_limit_exceeded' }],
  ['[[vendor-401]]', 401, { code: 'invalid_api_key' }],
  ['[[vendor-quota]]', 429, { type: 'insufficient_quota', code: 'insufficient_quota' }],
  ['[[vendor-quota credit_balance_exhausted]]', 429, { code: 'credit_balance_exhausted' }],
  ['[[vendor-404]]', 404, { code: 'model_not_found' }],
  ['[[context-length]]', 400, { code: 'context_length_exceeded', param: 'messages' }],
])('%s gets status %i, plain and streamed', async (marker, status, error) => {
  for (const more of [{}, streamed]) {
    const response = await post(`Please ${marker} now`, more);
    expect(response.status).toBe(status);
    expect(response.headers.get('retry-after')).toBe(marker.includes('retry-after') ? '7' : null);
    expect(await response.json()).toMatchObject({ error });
  }
  expect(simulator.requests.map(({ outcome }) => outcome)).toEqual(['refused', 'refused']);
});

test('[[cut n]] destroys the socket after n events', async () => {
  const { events, whole } = await readEvents('[[cut 3]]');
  expect([events.length, whole]).toEqual([3, false]);
  expect(simulator.requests[0]).toMatchObject({ outcome: 'cut', eventsSent: 3 });
});

test('[[cut-after-usage]] omits only the proper end', async () => {
  const { events, whole } = await readEvents('[[cut-after-usage]]');
  expect(JSON.parse(events.at(-1) ?? '').usage.total_tokens).toBeGreaterThan(0);
  expect(whole).toBe(false);
  const without = await readEvents('[[cut-after-usage]]', { stream_options: undefined });
  expect(JSON.parse(without.events.at(-1) ?? '').choices[0].finish_reason).toBe('stop');
  expect(without.whole).toBe(false);
});

test('[[error-event n]] and [[first-event-error]] put an error into a stream without [DONE]', async () => {
  for (const [marker, before] of [
    ['[[error-event 4]]', 4],
    ['[[first-event-error]]', 0],
  ] as const) {
    const { status, events, whole } = await readEvents(marker);
    expect([status, events.length, whole]).toEqual([200, before + 1, true]);
    expect(JSON.parse(events.at(-1) ?? '').error.type).toBe('server_error');
  }
});

test('[[no-usage]] omits the usage', async () => {
  const { events } = await readEvents('[[no-usage]]');
  expect(events.slice(0, -1).every((event) => JSON.parse(event).usage === null)).toBe(true);
  expect(events.at(-1)).toBe('[DONE]');
  expect(await (await post('[[no-usage]]')).json()).not.toHaveProperty('usage');
});

test('markers can set any usage, even an impossible one', async () => {
  const marked = '[[tokens 500]] [[cached 100]] [[cache-write 7]] [[reasoning 64]] [[usage-prompt 9000000]]';
  const completion = await openai.chat.completions.create({
    ...{ model: 'gpt-5.4', messages: [{ role: 'user', content: marked }] },
  });
  expect(completion.usage).toMatchObject({
    ...{ prompt_tokens: 9_000_000, completion_tokens: 500, total_tokens: 9_000_500 },
    prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 7 },
    completion_tokens_details: { reasoning_tokens: 64 },
  });
});

test('[[delay n]] and [[pause n]] delay the response', async () => {
  const started = performance.now();
  await post('[[delay 30]]');
  expect(performance.now() - started).toBeGreaterThan(25);
  const paused = performance.now();
  await readEvents('[[pause 5]]', { max_tokens: 5 });
  expect(performance.now() - paused).toBeGreaterThan(7 * 4);
});

test('[[hang]] never responds, [[stall n]] goes silent, and both notice that the client leaves', async () => {
  const hanging = new AbortController();
  const hung = post('[[hang]]', {}, hanging.signal);
  await expect.poll(() => simulator.requests.length).toBe(1);
  hanging.abort();
  await expect(hung).rejects.toThrow();
  const leaving = new AbortController();
  const response = await post('[[stall 2]]', streamed, leaving.signal);
  expect(response.status).toBe(200);
  await expect.poll(() => simulator.requests[1]?.eventsSent).toBe(2);
  leaving.abort();
  const outcomes = () => simulator.requests.map(({ outcome }) => outcome);
  await expect.poll(outcomes).toEqual(['client-left', 'client-left']);
});

test('[[reset]], [[redirect]] and [[garbage]] fail the response', async () => {
  await expect(post('[[reset]]')).rejects.toThrow();
  const redirected = await post('[[redirect]]');
  expect([redirected.status, redirected.headers.get('location')]).toEqual([307, '/redirected/v1/chat/completions']);
  const garbage = await post('[[garbage]]');
  expect(garbage.status).toBe(200);
  await expect(garbage.json()).rejects.toThrow();
});

test('markers count only in the last user message, and other brackets are text', async () => {
  const response = await post('', {
    messages: [
      { role: 'user', content: '[[status 500]]' },
      { role: 'assistant', content: 'Sorry' },
      { role: 'user', content: [{ type: 'text', text: 'See [[wiki link]] [[words' }] },
    ],
  });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('[[wiki link]] [[words');
});

test('a queued scenario overrides the chosen scenario, which overrides the prompt', async () => {
  simulator.setScenario(({ body }) =>
    JSON.stringify(body).includes('chosen') ? { refusal: { kind: 'status', status: 502 } } : undefined,
  );
  simulator.next({ refusal: { kind: 'status', status: 504 } });
  const statuses: number[] = [];
  for (const content of ['chosen [[status 500]]', 'chosen [[status 500]]', '[[status 500]]', 'plain']) {
    statuses.push((await post(content)).status);
  }
  expect(statuses).toEqual([504, 502, 500, 200]);
});

test('a gate delays every response until it is opened', async () => {
  const gate = simulator.gate();
  let answered = 0;
  const answers = Array.from({ length: 20 }, async () => {
    await post('Hello');
    answered += 1;
  });
  await gate.waitFor(20);
  expect([gate.arrived(), answered]).toEqual([20, 0]);
  gate.open();
  await Promise.all(answers);
  expect((await post('later')).status).toBe(200);
});

test('requests are recorded up to the limit', async () => {
  const small = await startSimulator({ recordedMax: 1 });
  for (const body of ['{"a":1}', 'no json']) {
    await fetch(`${small.url}/v1/chat/completions?x=1`, { method: 'POST', headers: { 'x-mine': body }, body });
  }
  expect(small.requests).toMatchObject([
    { method: 'POST', path: '/v1/chat/completions', headers: { 'x-mine': 'no json' }, body: undefined },
  ]);
  expect(Buffer.from(small.requests[0]!.bytes).toString()).toBe('no json');
  expect([...small.requests[0]!.query]).toEqual([['x', '1']]);
  await small.stop();
});

test('a stop is immediate, even while a response hangs', async () => {
  const own = await startSimulator();
  own.setScenario(() => ({ hang: true }));
  const hanging = fetch(`${own.url}/v1/chat/completions`, { method: 'POST', body: '{}' }).catch(() => 'gone');
  await expect.poll(() => own.requests.length).toBe(1);
  await own.stop();
  expect(await hanging).toBe('gone');
});
