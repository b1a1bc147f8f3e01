import * as z from 'zod';
import { SEEN_ADDRESS_HEADER } from '../core/accounts/check-account.ts';
import { type Clock, sleep } from '../core/clock.ts';
import { type MediaStore, newMediaLink } from '../core/images/media.ts';
import type { HttpFunction } from '../routes.ts';
import { cheapestModels } from './cheapest-models.ts';

/** Deployed gateway to check, and what the steps need from outside. */
export interface DeploymentCheck {
  /** Base URL of the routes of a function, without a trailing slash. `isLarge`: for a body above 3 MB. */
  readonly baseUrlOf: (name: HttpFunction, isLarge?: boolean) => string;
  /** API key of a check account (OPS-13). Never part of a result. */
  readonly apiKey: string;
  /** URLs that bypass the front door, without a trailing slash. */
  readonly directUrls: readonly string[];
  /** Returns the client IP that the gateway must see. Undefined: unknown, so the address is not compared. */
  readonly ownAddress: () => Promise<string | undefined>;
  readonly putImage: MediaStore['put'];
  /** 128 random bits as 32 hexadecimal digits. */
  readonly newMediaToken: () => string;
  /** Asks the messenger about the webhook. Undefined: only the route of the webhook is checked. */
  readonly readWebhook: (() => Promise<{ readonly isWell: boolean; readonly detail: string }>) | undefined;
  /** Steps that do not apply, each with the reason. */
  readonly skipped: Readonly<Partial<Record<StepName, string>>>;
  readonly clock: Clock;
  readonly send: typeof fetch;
  /** Time limit of one request, in ms. */
  readonly timeoutMs: number;
  /** Ends the check early. */
  readonly signal?: AbortSignal;
}

export interface StepResult {
  readonly name: StepName;
  readonly status: 'ok' | 'failed' | 'skipped';
  readonly ms: number;
  /** Finding of the step, or the reason of a skip. Contains no API key. After a failure it ends with what to do. */
  readonly detail: string;
}

interface Step {
  readonly name: StepName;
  readonly sends: string;
  readonly expects: string;
  /** What to do after a failure, in one sentence. */
  readonly advice: string;
  /** Returns a detail for the result. Throws a StepError with what was found instead. */
  readonly run: (run: Run) => Promise<string>;
}

export const stepNames = [
  'health',
  'dry run',
  'client IP',
  'large body',
  'streamed chat',
  'direct access',
  'bot',
  'image link',
  'pages',
] as const;
export type StepName = (typeof stepNames)[number];

/** Steps that price a request of a model. They need a provider key. */
export const stepsOfModel = ['dry run', 'client IP', 'large body'] as const satisfies readonly StepName[];

/** Address for documentation (RFC 5737), so no client has it. */
export const FORGED_ADDRESS = '192.0.2.1';

const LARGE_BYTES = 3_200_000;

/** The smallest PNG: one transparent pixel. */
const pixel = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='),
  (letter) => letter.charCodeAt(0),
);

class StepError extends Error {
  override readonly name = 'StepError';
}

interface Run extends DeploymentCheck {
  /** Returns the cheapest text model that a provider key exists for. Each run finds it once. */
  readonly model: () => Promise<string>;
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/** Sends one request. Throws a StepError that names no header, because one of them is the API key. */
const ask = async ({ send, timeoutMs, signal }: DeploymentCheck, url: string, init: RequestInit): Promise<Reply> => {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const ends = signal ? AbortSignal.any([limit, signal]) : limit;
    const response = await send(url, { ...init, redirect: 'manual', signal: ends });
    return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
  } catch (error) {
    if (signal?.aborted) throw new StepError('an interrupt of the check');
    if (limit.aborted) throw new StepError(`no response within ${timeoutMs / 1_000} s`);
    throw new StepError(`no response (${causeOf(error)})`);
  }
};

const causeOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  return cause && 'code' in cause ? String(cause.code) : 'connection failed';
};

const textOf = ({ bytes }: Reply): string => new TextDecoder().decode(bytes);

/** Returns the parsed body; undefined for anything but JSON. */
const jsonOf = (reply: Reply): unknown => {
  try {
    return JSON.parse(textOf(reply));
  } catch {
    return undefined;
  }
};

const errorSchema = z.object({ error: z.object({ code: z.string().regex(/^[a-z_]+$/) }) });
const codeOf = (reply: Reply): string | undefined => errorSchema.safeParse(jsonOf(reply)).data?.error.code;

const found = (reply: Reply): StepError => {
  const code = codeOf(reply);
  return new StepError(`status ${reply.status}${code === undefined ? '' : ` with the code ${code}`}`);
};

/** An environment may allow few requests of one API key. */
const TRIES = 3;
const WAIT_SECONDS_MAX = 10;

interface Chat {
  readonly body?: object;
  readonly headers?: Record<string, string>;
  /** Number of spaces that make the body large. */
  readonly spaces?: number;
}

/** Sends a chat completion. Waits as `Retry-After` says if the rate limit of the API key rejects it. */
const paid = async (run: DeploymentCheck, model: string, { body, headers, spaces = 0 }: Chat = {}): Promise<Reply> => {
  const chat = { model, messages: [{ role: 'user', content: 'Reply with one word.' }], max_tokens: 64, ...body };
  const request = {
    method: 'POST',
    headers: { authorization: `Bearer ${run.apiKey}`, 'content-type': 'application/json', ...headers },
    // JSON allows spaces between its signs, so the body is large and its prompt is small.
    body: `${JSON.stringify(chat).slice(0, -1)}${' '.repeat(spaces)}}`,
  };
  for (let tried = 1; ; tried += 1) {
    const reply = await ask(run, `${run.baseUrlOf('text', spaces > 0)}/v1/chat/completions`, request);
    if (codeOf(reply) !== 'rate_limit_exceeded' || tried === TRIES) return reply;
    const seconds = Number(reply.headers.get('retry-after') ?? 1);
    await sleep(run.clock, Math.min(seconds, WAIT_SECONDS_MAX) * 1_000);
  }
};

const priceOf = async (run: DeploymentCheck, model: string, more: Chat = {}): Promise<Reply> =>
  paid(run, model, { ...more, headers: { 'x-service-dry-run': 'true', ...more.headers } });

const dryRunSchema = z.object({ object: z.literal('dry_run'), model: z.string(), hold_usd: z.string() });

const priced = (reply: Reply): string => {
  const answer = dryRunSchema.safeParse(jsonOf(reply)).data;
  if (reply.status !== 200 || !answer) throw found(reply);
  return `${answer.model}, hold of ${answer.hold_usd} USD`;
};

/** Tries the cheapest model of each company, because an environment may have the keys of a few providers only. */
const findModel = async (run: DeploymentCheck): Promise<string> => {
  const list = await ask(run, `${run.baseUrlOf('catalog')}/api/models`, {});
  if (list.status !== 200) throw found(list);
  const models = cheapestModels(jsonOf(list), run.clock.now());
  let last = new StepError('a price list without a text model');
  for (const model of models) {
    const reply = await priceOf(run, model);
    if (codeOf(reply) !== 'model_unavailable') return model;
    last = found(reply);
  }
  throw last;
};

const seenAddress = async (run: Run): Promise<string> => {
  const forged = { 'x-client-ip': FORGED_ADDRESS, 'x-forwarded-for': FORGED_ADDRESS };
  const reply = await priceOf(run, await run.model(), { headers: forged });
  priced(reply);
  const seen = reply.headers.get(SEEN_ADDRESS_HEADER);
  if (seen === null) throw new StepError('no client IP');
  if (seen.includes(FORGED_ADDRESS)) throw new StepError('the address that the client forged');
  const own = await run.ownAddress();
  const isComparable = own !== undefined && own.includes(':') === seen.includes(':');
  if (isComparable && own !== seen) throw new StepError('another address');
  return isComparable ? 'the address of this machine' : 'not the forged address; the own address is not known';
};

const streamed = async (run: Run): Promise<string> => {
  const model = await run.model();
  const reply = await paid(run, model, { body: { stream: true } });
  const events = textOf(reply);
  if (reply.status !== 200) throw found(reply);
  if (!reply.headers.get('content-type')?.startsWith('text/event-stream')) throw new StepError('no event stream');
  if (!/^data: \{/m.test(events)) throw new StepError('a stream without an event');
  if (!/^data: \[DONE\]$/m.test(events)) throw new StepError('a stream that ends early');
  return `${model}, ${events.match(/^data: /gm)?.length ?? 0} events`;
};

const refusedDirectly = async (run: Run): Promise<string> => {
  if (run.directUrls.length === 0) throw new StepError('no function URL');
  const replies = await Promise.all(run.directUrls.map((url) => ask(run, `${url}/health`, {})));
  const open = replies.find((reply) => reply.status !== 403 || codeOf(reply) !== 'direct_access_refused');
  if (open) throw found(open);
  return `${replies.length} function URLs refuse`;
};

const webhook = async (run: Run): Promise<string> => {
  const reply = await ask(run, `${run.baseUrlOf('bot')}/bot`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  if (codeOf(reply) !== 'invalid_signature') throw found(reply);
  if (!run.readWebhook) return 'the route refuses an unsigned update';
  const { isWell, detail } = await run.readWebhook();
  if (!isWell) throw new StepError(detail);
  return detail;
};

const linked = async (run: Run): Promise<string> => {
  const { baseUrlOf, newMediaToken, putImage } = run;
  const media = { put: putImage, open: async () => undefined };
  const link = newMediaLink({ media, newMediaToken, mediaUrl: baseUrlOf('content') }, run.clock.now());
  await putImage(link.name, pixel, 'image/png').catch((error: unknown) => {
    throw new StepError(`an image that was not stored (${error instanceof Error ? error.name : 'unknown error'})`);
  });
  const reply = await ask(run, link.url, {});
  if (reply.status !== 200) throw found(reply);
  if (!Buffer.from(reply.bytes).equals(pixel)) throw new StepError('other bytes than those of the image');
  return `${pixel.length} bytes`;
};

const pagePaths = ['/app', '/api-reference', '/api-reference/openapi.json'] as const;

const pages = async (run: Run): Promise<string> => {
  const base = run.baseUrlOf('content');
  for (const path of pagePaths) {
    const reply = await ask(run, `${base}${path}`, {});
    if (reply.status === 200 && reply.bytes.length > 0) continue;
    throw new StepError(`${found(reply).message} at ${path}`);
  }
  return pagePaths.join(', ');
};

/** The steps in their order. */
export const steps: readonly Step[] = [
  {
    name: 'health',
    sends: 'GET /health',
    expects: '200 with the status ok',
    advice: 'Check the public URL and its DNS record, then the log of the function catalog.',
    run: async (run) => {
      const reply = await ask(run, `${run.baseUrlOf('catalog')}/health`, {});
      if (reply.status !== 200 || !z.object({ status: z.literal('ok') }).safeParse(jsonOf(reply)).success)
        throw found(reply);
      return 'status ok';
    },
  },
  {
    name: 'dry run',
    sends: 'a dry run of a chat completion with an API key of the check',
    expects: '200 with the price',
    advice: 'After model_unavailable, store a provider key; otherwise look up the code in docs/runbook.md.',
    run: async (run) => priced(await priceOf(run, await run.model())),
  },
  {
    name: 'client IP',
    sends: 'a dry run with a forged client IP in the headers',
    expects: 'the client IP of the connection',
    advice: 'Deploy the edge stack again, and check that no other proxy is in front of the gateway.',
    run: seenAddress,
  },
  {
    name: 'large body',
    sends: `a dry run with a body of ${LARGE_BYTES / 1_000_000} MB`,
    expects: '200 with the price',
    advice: 'Check largeBodies in gateway.config.ts, then deploy the stacks api and edge again.',
    run: async (run) => priced(await priceOf(run, await run.model(), { spaces: LARGE_BYTES })),
  },
  {
    name: 'streamed chat',
    sends: 'a streamed chat completion, which is charged',
    expects: 'an event stream that ends with [DONE]',
    advice: 'Check the key and the status page of the provider, then the log of the function text.',
    run: streamed,
  },
  {
    name: 'direct access',
    sends: 'GET /health to each function URL',
    expects: '403 with the code direct_access_refused',
    advice: 'Check that FRONT_DOOR of that function is cloudfront, then deploy the api stack again.',
    run: refusedDirectly,
  },
  {
    name: 'bot',
    sends: 'an unsigned update to /bot, and a question about the webhook to the messenger',
    expects: 'a refusal of the update, and the webhook of this environment',
    advice: 'Run `bot setup` for this environment, and check its bot token.',
    run: webhook,
  },
  {
    name: 'image link',
    sends: 'GET of a link to an image that the check has stored',
    expects: '200 with the image',
    advice: 'Check the bucket and, behind CloudFront, its policy, then the log of the function content.',
    run: linked,
  },
  {
    name: 'pages',
    sends: `GET ${pagePaths.join(', ')}`,
    expects: '200 with the pages',
    advice: 'Deploy again, then check the log of the function content.',
    run: pages,
  },
];

/** Runs the steps in their order. A failed step does not end the check; the signal does, after the step that it ends. */
export async function* runSteps(check: DeploymentCheck): AsyncGenerator<StepResult, void> {
  let model: Promise<string> | undefined;
  const run: Run = {
    ...check,
    model: () => {
      model ??= findModel(check);
      return model;
    },
  };
  for (const step of steps) {
    if (check.signal?.aborted) return;
    yield await resultOf(step, run);
  }
}

const resultOf = async ({ name, expects, advice, run: work }: Step, run: Run): Promise<StepResult> => {
  const skip = run.skipped[name];
  if (skip !== undefined) return { name, status: 'skipped', ms: 0, detail: skip };
  const startedAt = run.clock.now();
  const msNow = (): number => run.clock.now() - startedAt;
  try {
    const detail = await work(run);
    return { name, status: 'ok', ms: msNow(), detail };
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    return { name, status: 'failed', ms: msNow(), detail: `Expected ${expects}, found ${error.message}. ${advice}` };
  }
};
