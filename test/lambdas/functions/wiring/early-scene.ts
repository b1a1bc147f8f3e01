import { expect } from 'vitest';
import { createSilentService, type Heard, type SilentService, textOf } from './silent-service.ts';
import { type Customer, type CustomerName, customerNames, customers } from './silent-vendor.ts';

const customerOf = (name: CustomerName): Customer => customers[name];
export const keepAliveOf = (name: CustomerName): string => customerOf(name).keepAlive ?? ' ';

/** How an answer is kept alive and how it fails: one request of each shape is enough for the quick tier. */
export const shapeOf = (name: CustomerName): string => `${customers[name].ends} ${keepAliveOf(name)}`;

export const begunEarly = customerNames(['json', 'event', 'array']);
export const inJson = customerNames(['json']);
export const inStreams = customerNames(['event', 'array']);
export const inBytes = customerNames(['bytes']);
export const free = { spentPicos: 0n, expiries: [] };
export const GRACE_SECONDS = 300;

/** Without what differs from request to request. */
export const alike = (text: string): string =>
  text
    .replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, 'ID')
    .replaceAll(/"created":\d+/g, '"created":0')
    .replaceAll(/\/media\/\d+/g, '/media/0');

const prompts = new Map<CustomerName, ReturnType<typeof askPromptly>>();

/** What the same request is answered and charged where nobody waits. */
export const promptly = (name: CustomerName): ReturnType<typeof askPromptly> => {
  const asked = prompts.get(name) ?? askPromptly(name);
  prompts.set(name, asked);
  return asked;
};

const askPromptly = async (name: CustomerName) => {
  const service = await createSilentService();
  const { heard, done } = await service.ask(customers[name], { seconds: 1 });
  await service.pass(1);
  await done;
  return { text: alike(textOf(heard)), head: heard.head, ...(await service.money()) };
};

export const failed = { status: 500, body: '{"error":{"message":"It broke.","type":"server_error"}}' };

/** How the words of a failure begin, of a request that had begun by then. */
export const failureOf = (name: CustomerName, code: string, status: number): RegExp => {
  const ours = `"code":"${code}"`;
  const googles = `"error":\\{"code":${status},"message":"[^"]+","status":"[A-Z_]+","details":\\[.*"reason":"${code}".*\\]\\}\\}`;
  const own: Partial<Record<CustomerName, string>> = {
    'messages stream': `event: error\\ndata: \\{"type":"error","error":\\{.*${ours}.*\\},"request_id":"ID"\\}\\n\\n`,
    'responses stream': `event: error\\ndata: \\{"type":"error",${ours},.*"sequence_number":0\\}\\n\\nevent: response.failed\\ndata: .*\\n\\n`,
    'streamGenerateContent sse': `data: \\{${googles}\\n\\n`,
    'streamGenerateContent array': `\\[\\{${googles}\\n`,
    generateContent: `\\{${googles}!`,
    messages: `\\{"type":"error","error":\\{.*${ours}.*\\},"request_id":"ID"\\}!`,
  };
  const usual =
    customers[name].ends === 'json'
      ? `\\{"error":\\{.*${ours}.*\\}\\}!`
      : `data: \\{"error":\\{.*${ours}.*\\}\\}\\n\\n`;
  return new RegExp(`^${own[name] ?? usual}$`);
};

export const once = ({ finished }: SilentService) => {
  expect(finished).toHaveLength(1);
  return finished[0];
};

/** What nobody can take for anything, and what follows it. */
export const restAfter = (heard: Heard, name: CustomerName, times: readonly number[]): string => {
  const silent = heard.pieces.filter(({ text }) => text !== '').slice(0, times.length);
  const keepAlive = keepAliveOf(name);
  expect(silent).toEqual(times.map((at) => ({ at, text: keepAlive })));
  return alike(textOf(heard).slice(keepAlive.length * times.length));
};
