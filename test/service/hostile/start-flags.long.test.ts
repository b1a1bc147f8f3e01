import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { BODIES_AT_ONCE, BODY_BYTES_MAX, BODY_PARTS_MAX } from '../../../lambdas/limits.ts';
import { until } from '../../support/gateway-process.ts';
import { withImage } from '../../support/hostile-bodies.ts';
import { FORM, largeForm } from '../../support/hostile-forms.ts';
import { type HostileProcess, startHostileProcess } from '../../support/hostile-process.ts';
import { ask } from '../../support/hostile-wire.ts';

const { scripts } = z
  .object({ scripts: z.object({ start: z.string() }) })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')));
const flags = scripts.start.split(' ').filter((word) => word.startsWith('--'));

const LIMIT_MS = 180_000;
const STREAMS = 100;

let gateway: HostileProcess;
/** An account and a client IP for each body, so that no quarter of the budget keeps one waiting. */
let senders: readonly { readonly apiKey: string; readonly from: string }[];
beforeAll(async () => {
  gateway = await startHostileProcess({}, flags);
  senders = await Promise.all(
    Array.from({ length: BODIES_AT_ONCE }, async (_, index) => ({
      apiKey: await gateway.issue('100'),
      from: `127.0.3.${index + 1}`,
    })),
  );
});
afterAll(() => gateway.stop());

/** Returns the text of a stream that lasts about five seconds. */
const slowStream = async (): Promise<string> => {
  const content = 'speak slowly [[words 50]] [[pause 100]]';
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.apiKey}` },
    body: JSON.stringify({ model: 'gpt-5.4', max_tokens: 100, stream: true, messages: [{ role: 'user', content }] }),
  });
  return response.text();
};

/** A body of 20 MiB that consists of arrays in arrays. */
const deepJson = (): Buffer => {
  const [head, tail] = ['{"model":"gpt-5.4","messages":[],"user":', '}'];
  const levels = Math.floor((BODY_BYTES_MAX - head.length - tail.length) / 2);
  return Buffer.concat([Buffer.from(head), Buffer.alloc(levels, '['), Buffer.alloc(levels, ']'), Buffer.from(tail)]);
};

/** A body of 20 MiB with a list of these items, in a member that the gateway ignores. */
const listOf = (makeItem: (index: number) => string): Buffer => {
  const [head, tail] = ['{"model":"gpt-5.4","messages":[{"role":"user","content":"hi"}],"ignored":[0', ']}'];
  const items: string[] = [];
  let bytesLeft = BODY_BYTES_MAX - head.length - tail.length;
  for (let index = 0; bytesLeft > 0; index += 1) {
    const item = `,${makeItem(index)}`;
    bytesLeft -= item.length;
    if (bytesLeft >= 0) items.push(item);
  }
  return Buffer.from(head + items.join('') + tail);
};

/** As many objects as a body may have, and text. */
const mostObjects = (): Buffer =>
  listOf((index) => (index < BODY_PARTS_MAX - 10 ? '{}' : JSON.stringify('a'.repeat(1_000))));

/** As many members of one object as a body may have, and text. */
const mostMembers = (): Buffer => {
  const members = Array.from({ length: BODY_PARTS_MAX - 10 }, (_, index) => `"${index.toString(36)}_":0`).join();
  const head = `{"model":"gpt-5.4","messages":[{"role":"user","content":"hi"}],"ignored":{${members}},"user":"`;
  return Buffer.from(`${head}${'a'.repeat(BODY_BYTES_MAX - head.length - 2)}"}`);
};

/** Objects in objects with an index as the name, for which the parser allocates a list up to the index. */
const indexNames = (): Buffer => {
  const object = `${'{"30":'.repeat(50)}0${'}'.repeat(50)}`;
  return listOf((index) => (index < (BODY_PARTS_MAX - 10) / 100 ? object : JSON.stringify('a'.repeat(1_000))));
};

/** Arguments of a call in one string. The provider's protocol has them as values. */
const toolArguments = (): Buffer => {
  const call = '{"id":"a","type":"function","function":{"name":"f","arguments":"{\\"a\\":[';
  const turns = `{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[${call}`;
  const head = `{"model":"claude-sonnet-5-5","messages":[${turns}`;
  const tail = '0]}"}}]},{"role":"tool","tool_call_id":"a","content":"ok"}]}';
  return Buffer.from(head + '1.50,'.repeat((BODY_BYTES_MAX - head.length - tail.length) / 5) + tail);
};

const chats = '/v1/chat/completions';

test.each([
  ['images in base64', chats, () => withImage(BODY_BYTES_MAX), []],
  ['forms', '/v1/images/edits', () => largeForm(BODY_BYTES_MAX - 4_096), [FORM]],
  ['deeply nested JSON', chats, deepJson, []],
  ['too many objects', chats, () => listOf(() => '{}'), []],
  ['as many objects as allowed', chats, mostObjects, []],
  ['as many members as allowed', chats, mostMembers, []],
  ['numbers', chats, () => listOf(() => '1'), []],
  ['objects with indexes as names', chats, indexNames, []],
  ['numbers after a text', chats, () => listOf((index) => (index === 0 ? '""' : '-0')), []],
  ['arguments of tools', chats, toolArguments, []],
  ['different short texts', chats, () => listOf((index) => `"${index.toString(36)}"`), []],
] as const)('GEN-14 eight bodies of 20 MiB of %s and 100 streams fit the heap of npm start', async (...row) => {
  const [, target, makeBody, headers] = row;
  const body = makeBody();
  const streams = Promise.all(Array.from({ length: STREAMS }, slowStream));
  const replies = await Promise.all(
    senders.map(({ apiKey, from }) =>
      ask(
        gateway.port,
        { method: 'POST', target, body, from, headers: [`authorization: Bearer ${apiKey}`, ...headers] },
        LIMIT_MS,
      ),
    ),
  );
  const texts = await streams;
  expect(gateway.output().stderr).not.toMatch(/heap|FATAL/);
  expect(gateway.running()).toBe(true);
  expect(texts.filter((text) => !text.trimEnd().endsWith('data: [DONE]'))).toEqual([]);
  expect(replies.map(({ status }) => status).filter((status) => ![200, 400, 503].includes(status))).toEqual([]);
  expect(replies.some(({ status }) => status !== 503)).toBe(true);
  // A charge is committed before the end of its stream, and its hold is removed after it.
  await until('the end of every hold', async () => ((await gateway.account()).openHolds === 0 ? true : undefined));
});

test('GEN-14 sixty bodies with as many objects as allowed fit the heap of npm start', async () => {
  const body = Buffer.from(
    `{"model":"gpt-5.4","messages":[{"role":"user","content":"hi [[pause 300]]"}],"ignored":[${'{},'.repeat(BODY_PARTS_MAX - 20)}0]}`,
  );
  const send = (index: number) => {
    const { apiKey = '', from = '' } = senders[index % senders.length] ?? {};
    const headers = [`authorization: Bearer ${apiKey}`];
    return ask(gateway.port, { method: 'POST', target: chats, body, from, headers }, LIMIT_MS);
  };
  const replies = await Promise.all(Array.from({ length: 60 }, (_, index) => send(index)));
  expect(gateway.running()).toBe(true);
  expect(replies.map(({ status }) => status).filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
  expect(replies.some(({ status }) => status === 200)).toBe(true);
});

test('GEN-14 400 bodies of 64 KiB of nested objects fit the heap of npm start', async () => {
  const object = `${'{"30":'.repeat(58)}0${'}'.repeat(58)}`;
  const objects = Array.from({ length: 65_000 / (object.length + 1) }, () => object).join();
  const body = Buffer.from(
    `{"model":"gpt-5.4","messages":[{"role":"user","content":"hi [[delay 5000]]"}],"ignored":[${objects}]}`,
  );
  const replies = await Promise.all(
    Array.from({ length: 400 }, (_, index) => {
      const { apiKey = '', from = '' } = senders[index % senders.length] ?? {};
      const headers = [`authorization: Bearer ${apiKey}`];
      return ask(gateway.port, { method: 'POST', target: chats, body, from, headers }, LIMIT_MS);
    }),
  );
  expect(gateway.running()).toBe(true);
  expect(replies.map(({ status }) => status).filter((status) => ![200, 503].includes(status))).toEqual([]);
  expect(replies.some(({ status }) => status === 200)).toBe(true);
});
