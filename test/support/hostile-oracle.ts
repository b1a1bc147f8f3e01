import * as z from 'zod';
import { errorCodes, GatewayError } from '../../lambdas/core/errors/gateway-error.ts';
import { HOLDS_MAX } from '../../lambdas/core/ledger/account.ts';
import type { Reply } from './hostile-wire.ts';
import type { InProcessGateway } from './in-process-gateway.ts';

/** The three in which an error may come (GEN-3); `any` where a target is too broken to belong to a protocol. */
export type ErrorShape = 'plain' | 'messages' | 'generate_content';

const members = {
  message: z.string().min(1),
  type: z.string(),
  code: z.enum(errorCodes),
  param: z.string().nullable(),
};
const requestId = z.string().regex(/^[0-9A-HJKMNP-TV-Z]{26}$/);
const googleStatus = z.string().regex(/^[A-Z_]+$/);

const shapes = {
  plain: z.strictObject({ error: z.strictObject(members) }),
  messages: z.strictObject({ type: z.literal('error'), error: z.strictObject(members), request_id: requestId }),
  generate_content: z.strictObject({ error: z.strictObject({ ...members, status: googleStatus }) }),
};

export type ErrorBody = z.output<typeof shapes.plain>['error'];

const shapeNames = ['plain', 'messages', 'generate_content'] as const;

/** GEN-3 and ERR-1, or a failed test. */
export const readError = (
  { status, body }: Pick<Reply, 'status' | 'body'>,
  shape: ErrorShape | 'any' = 'plain',
): ErrorBody => {
  const json = parse(body);
  const wanted = shape === 'any' ? shapeNames : [shape];
  const error = wanted.map((name) => shapes[name].safeParse(json).data?.error).find((found) => found !== undefined);
  if (!error) throw new Error(`${status} without the error shape of ${shape}: ${body.slice(0, 300)}`);
  const row = new GatewayError(error.code, '');
  if (row.status !== status || row.type !== error.type) {
    throw new Error(`${error.code} goes with ${row.status} ${row.type}, not with ${status} ${error.type}`);
  }
  return error;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const NAMING = [400, 404, 422];

/** What no answer to any client may be, whatever it sent: a bug's status, another error shape, a param that is not named. */
export const judge = (reply: Reply, shape: ErrorShape | 'any' = 'plain'): void => {
  if (reply.status === 500) throw new Error(`status 500: ${reply.body.slice(0, 300)}`);
  if (reply.status < 400) return;
  const { message, param } = readError(reply, shape);
  if (NAMING.includes(reply.status) && param !== null && !message.includes(param)) {
    throw new Error(`${reply.status}: the message does not name ${JSON.stringify(param).slice(0, 200)}: ${message}`);
  }
};

const hasHeader = (headers: readonly string[], names: readonly string[]): boolean =>
  headers.some((line) => names.includes(line.replace(/:.*$/, '').toLowerCase()));

/** Which shape the clients of an address expect; the lists of models are there for all, and their headers tell who asks (CAT-7). */
export const shapeAt = (target: string, headers: readonly string[] = []): ErrorShape => {
  if (/^\/v1\/messages(\/|\?|$)/.test(target)) return 'messages';
  if (/^\/v1beta\/|^\/v1\/models\/[^/]+:[a-zA-Z]+(\?|$)/.test(target)) return 'generate_content';
  if (!/^\/v1\/models(\/|\?|$)/.test(target)) return 'plain';
  if (hasHeader(headers, ['x-provider-api-key', 'x-goog-api-key'])) return 'generate_content';
  return hasHeader(headers, ['x-api-key', 'provider-version', 'anthropic-version']) ? 'messages' : 'plain';
};

/** Pico-USD. */
export interface Money {
  readonly spent: bigint;
  readonly available: bigint;
}

/** Fails while anything is held: every request has ended when this is asked. */
export const moneyOf = async ({ ledger }: InProcessGateway, accountId: string): Promise<Money> => {
  const account = await ledger.readAccount(accountId);
  if (!account) throw new Error('the account is gone');
  if (account.holds.size > 0) throw new Error(`${account.holds.size} of at most ${HOLDS_MAX} holds are still open`);
  if (account.availablePicos !== account.creditedPicos - account.spentPicos)
    throw new Error('the balance does not add up');
  return { spent: account.spentPicos, available: account.availablePicos };
};

const plainNames = Object.getOwnPropertyNames(Object.prototype).length;

/** Nobody has written to what every object inherits. */
export const refusePollution = (): void => {
  const inherited: Record<string, unknown> = {};
  if (Object.getOwnPropertyNames(Object.prototype).length !== plainNames || 'polluted' in inherited) {
    throw new Error('Object.prototype was written to');
  }
};
