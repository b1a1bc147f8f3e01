import { expect } from 'vitest';
import { createSilentService, type Heard, type SilentService, textOf } from './silent-service.ts';
import { type Customer, type CustomerName, customerNames, customers } from './silent-vendor.ts';

const customerOf = (name: CustomerName): Customer => customers[name];
export const keepAliveOf = (name: CustomerName): string => customerOf(name).keepAlive ?? ' ';

/** Returns the failure form and the keep-alive of a response. The quick tier runs one request per combination. */
export const shapeOf = (name: CustomerName): string => `${customers[name].ends} ${keepAliveOf(name)}`;

export const begunEarly = customerNames(['json', 'event', 'array']);
export const inJson = customerNames(['json']);
export const inStreams = customerNames(['event', 'array']);
export const free = { spentPicos: 0n, expiries: [] };
export const GRACE_SECONDS = 300;

/** Removes what differs between requests. */
export const alike = (text: string): string =>
  text
    .replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, 'ID')
    .replaceAll(/"created":\d+/g, '"created":0')
    .replaceAll(/\/media\/\d+/g, '/media/0');

const prompts = new Map<CustomerName, ReturnType<typeof askPromptly>>();

/** Returns the response and the charge of the same request when the provider responds after one second. */
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

/** Matches the start of a failure in a response that had started. */
export const failureOf = (name: CustomerName, code: string, status: number): RegExp => {
  const ours = `"code":"${code}"`;
  const googles = `"error":\\{"code":${status},"message":"[^"]+","status":"[A-Z_]+","type":"[a-z_]+","param":null,"details":\\[.*"reason":"${code}".*\\]\\}\\}`;
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

/** Checks that the text starts with one keep-alive at each of these times, and returns the text after them. */
export const restAfter = (heard: Heard, name: CustomerName, times: readonly number[]): string => {
  const silent = heard.pieces.filter(({ text }) => text !== '').slice(0, times.length);
  const keepAlive = keepAliveOf(name);
  expect(silent).toEqual(times.map((at) => ({ at, text: keepAlive })));
  return alike(textOf(heard).slice(keepAlive.length * times.length));
};
