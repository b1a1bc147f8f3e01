import { expect, test } from 'vitest';
import { codeOf, cutAfter, eventsIn, fixture, inPieces, OUR_MODEL, readAll, toSse } from './stream-reading.ts';

const events = eventsIn(fixture('chat-stream.sse'));
const counts = { input: 15, cacheRead: 4, cacheWrite: 0, cacheWrite1h: 0, output: 7, reasoning: 3 };
const USAGE = 5;
const FINISH = 4;

test('BILL-9 a stream cut or closed before its usage is an error', async () => {
  for (let sent = 0; sent <= events.length; sent += 1) {
    for (const end of [cutAfter, inPieces]) {
      const read = await readAll(end(toSse(events.slice(0, sent))));
      expect(read.raw).toHaveLength(Math.min(sent, FINISH));
      if (sent > USAGE) expect(read.end).toMatchObject({ usage: counts, event: { model: OUR_MODEL } });
      else expect([sent, read.end, codeOf(read.error)]).toEqual([sent, undefined, 'upstream_error']);
    }
  }
});

test('BILL-9 a stream cut inside the usage event has no usage', async () => {
  const text = toSse(events.slice(0, USAGE + 1));
  for (const cut of [text.slice(0, -1), text.slice(0, -2), text.slice(0, -40)]) {
    const { end, error } = await readAll(cutAfter(cut));
    expect([end, codeOf(error)]).toEqual([undefined, 'upstream_error']);
  }
});

test('BILL-10 a regular end without usage has no usage', async () => {
  const { end } = await readAll(inPieces(toSse(events.filter((_, at) => at !== USAGE))));
  expect(end).toMatchObject({ usage: undefined, reportedUsage: undefined, event: { model: OUR_MODEL } });
});

test('BILL-9 neither [DONE] nor usage ends a stream without a finish reason', async () => {
  for (const left of [events.slice(0, FINISH), [...events.slice(0, FINISH), events[USAGE] ?? '']]) {
    const { end, error } = await readAll(inPieces(toSse([...left, '[DONE]'])));
    expect([end, codeOf(error)]).toEqual([undefined, 'upstream_error']);
  }
});

test('BILL-9 nothing is read after [DONE]', async () => {
  const { raw, end, error } = await readAll(inPieces(toSse([...events, '{"error":{"message":"late"}}'])));
  expect([raw.length, error]).toEqual([FINISH, undefined]);
  expect(end?.usage).toEqual(counts);
});

test('BILL-9 empty chunks after the finish reason do not change the end', async () => {
  const empty = (events[3] ?? '').replace('"content":"[DONE]"', '"content":""');
  const { end, error } = await readAll(inPieces(toSse([...events.slice(0, USAGE), empty, ...events.slice(USAGE)])));
  expect(error).toBeUndefined();
  expect(end).toMatchObject({ usage: counts, event: { choices: [{ finish_reason: 'stop' }] } });
});

test('BILL-9 a usage on every chunk is final only with the finish reason', async () => {
  const running = eventsIn(fixture('vllm-continuous-usage.sse'));
  for (let sent = 1; sent <= running.length; sent += 1) {
    const { end, error } = await readAll(cutAfter(toSse(running.slice(0, sent))));
    if (sent <= 3) expect([sent, end, codeOf(error)]).toEqual([sent, undefined, 'upstream_error']);
    else
      expect([sent, end?.usage]).toEqual([
        sent,
        { input: 11, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 3, reasoning: 0 },
      ]);
  }
});

test('BILL-9 a usage before the finish reason is not final', async () => {
  const running = eventsIn(fixture('vllm-continuous-usage.sse'));
  const finish = (running[3] ?? '').replace(/"usage":\{[^}]*\}/, '"usage":null');
  const { end, error } = await readAll(cutAfter(toSse([...running.slice(0, 3), finish])));
  expect([end, codeOf(error)]).toEqual([undefined, 'upstream_error']);
});

test('BILL-9 if a stream has several usages, the last one is used', async () => {
  const running = eventsIn(fixture('vllm-continuous-usage.sse'));
  const more = (running[4] ?? '').replace('"completion_tokens":3', '"completion_tokens":5');
  const { end } = await readAll(inPieces(toSse([...running.slice(0, 4), more, '[DONE]'])));
  expect(end?.usage?.output).toBe(5);
  expect(end?.reportedUsage).toMatchObject({ completion_tokens: 5 });
});

test('BILL-11 a later count that is zero or missing erases no earlier one', async () => {
  const running = eventsIn(fixture('vllm-continuous-usage.sse'));
  const last = JSON.parse(running[4] ?? '');
  const whole = await readAll(inPieces(toSse(running)));
  for (const usage of [
    { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    { prompt_tokens: null, completion_tokens: 3 },
    { completion_tokens: 3 },
  ]) {
    const ending = JSON.stringify({ ...last, usage });
    const { end } = await readAll(inPieces(toSse([...running.slice(0, 4), ending, '[DONE]'])));
    expect([end?.usage, end?.reportedUsage]).toEqual([whole.end?.usage, whole.end?.reportedUsage]);
  }
  expect(whole.end?.usage).toMatchObject({ input: 11, output: 3 });
});

test('BILL-21 the usage so far is known before the end', async () => {
  const running = eventsIn(fixture('vllm-continuous-usage.sse'));
  const cut = await readAll(cutAfter(toSse(running.slice(0, 3))));
  expect([cut.end, cut.usageSoFar]).toEqual([undefined, expect.objectContaining({ input: 11, output: 2 })]);
  expect((await readAll(cutAfter(toSse(events.slice(0, USAGE))))).usageSoFar).toBeUndefined();
});

test('BILL-9 one finish reason of two choices and a running usage are not the end', async () => {
  const two = eventsIn(fixture('chat-stream-two-choices.sse'));
  const usage = '"usage":{"prompt_tokens":5,"completion_tokens":4,"total_tokens":9}';
  const counting = two.map((data) => data.replace('"usage":null', usage));
  for (let sent = 1; sent <= 4; sent += 1) {
    const { end, error } = await readAll(cutAfter(toSse(counting.slice(0, sent))), { choices: 2 });
    expect([sent, end, codeOf(error)]).toEqual([sent, undefined, 'upstream_error']);
  }
  const { end } = await readAll(cutAfter(toSse(counting.slice(0, 5))), { choices: 2 });
  expect(end?.usage?.output).toBe(4);
});

test('CHAT-11 every finish reason of two choices is sent once, the last one at the end', async () => {
  const [role0 = '', role1 = '', finish1 = '', text0 = '', finish0 = '', ...rest] = eventsIn(
    fixture('chat-stream-two-choices.sse'),
  );
  const orders = [
    [role0, role1, finish1, text0, finish0, ...rest],
    [role0, role1, text0, finish0, finish1, ...rest],
  ];
  for (const order of orders) {
    const { raw, end } = await readAll(inPieces(toSse(order)), { choices: 2 });
    const refusalContext = [...raw, JSON.stringify(end?.event)].flatMap((data) =>
      JSON.parse(data).choices.flatMap((choice: { index: number; finish_reason: string | null }) =>
        choice.finish_reason ? [[choice.index, choice.finish_reason]] : [],
      ),
    );
    expect(refusalContext.toSorted()).toEqual([
      [0, 'stop'],
      [1, 'length'],
    ]);
    expect(end?.usage?.output).toBe(8);
  }
});

test('CHAT-11 a chunk without a model gets the client’s model', async () => {
  const bare = events.map((data) => data.replace('"model":"gpt-4o-mini-2024-07-18",', ''));
  const { raw, end } = await readAll(inPieces(toSse(bare)));
  expect(raw.map((data) => JSON.parse(data).model)).toEqual(Array(FINISH).fill(OUR_MODEL));
  expect(raw.map((data) => JSON.parse(data))).toEqual(
    bare.slice(0, FINISH).map((data) => ({ ...JSON.parse(data), model: OUR_MODEL })),
  );
  expect(end?.event.model).toBe(OUR_MODEL);
});

test('BILL-10 a usage without valid counts is not a usage, and is shown unchanged', async () => {
  const odd = (events[USAGE] ?? '').replaceAll(/"(prompt|completion)_tokens":(\d+)/g, '"$1_tokens":"$2"');
  const { end } = await readAll(inPieces(toSse([...events.slice(0, USAGE), odd, '[DONE]'])));
  expect([end?.usage, end?.reportedUsage?.prompt_tokens]).toEqual([undefined, '19']);
});

test('BILL-7 an unreadable count does not make the others free, and is shown unchanged', async () => {
  const odd = (events[USAGE] ?? '').replace('"prompt_tokens":19', '"prompt_tokens":"19"');
  const { end } = await readAll(inPieces(toSse([...events.slice(0, USAGE), odd, '[DONE]'])));
  expect(end?.usage).toEqual({ ...counts, input: 0, cacheRead: 0 });
  expect(end?.reportedUsage?.prompt_tokens).toBe('19');
});

test('BILL-9 an error event after the final usage is still an error', async () => {
  const failed = JSON.stringify({ error: { message: 'x', type: 'server_error' } });
  const { end, error } = await readAll(inPieces(toSse([...events.slice(0, -1), failed])));
  expect([end, codeOf(error)]).toEqual([undefined, 'upstream_error']);
});

test('BILL-9 a stream in which one of two choices never finished is incomplete despite [DONE]', async () => {
  const [, , , finish = ''] = eventsIn(fixture('vllm-continuous-usage.sse')).map((data) =>
    data.replace(/"usage":\{[^}]*\}/, '"usage":null'),
  );
  const { end, error } = await readAll(inPieces(toSse([finish, '[DONE]'])), { choices: 2 });
  expect([end, codeOf(error)]).toEqual([undefined, 'upstream_error']);
});

test('BILL-7 a usage that cannot be counted does not change an earlier one', async () => {
  const empty = JSON.stringify({ ...JSON.parse(events[USAGE] ?? ''), usage: {} });
  const whole = await readAll(inPieces(toSse([...events.slice(0, USAGE + 1), '[DONE]'])));
  const { end } = await readAll(inPieces(toSse([...events.slice(0, USAGE + 1), empty, '[DONE]'])));
  expect([end?.usage, end?.reportedUsage]).toEqual([whole.end?.usage, whole.end?.reportedUsage]);
  expect(end?.usage).toBeDefined();
});
