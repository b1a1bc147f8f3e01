import type * as z from 'zod';
import { GatewayError } from '../../lambdas/core/errors/gateway-error.ts';
import { HOLDS_MAX } from '../../lambdas/core/ledger/ledger.ts';
import { type ErrorShape, errorShapes } from './error-shapes.ts';
import type { Reply } from './hostile-wire.ts';
import type { InProcessGateway } from './in-process-gateway.ts';

export type ErrorBody = z.output<typeof errorShapes.plain>;

const shapeNames = ['plain', 'messages', 'generate_content'] as const;

/** GEN-3 and ERR-1, or a failed test. The type is that of the plain format. `any` is for a target that belongs to no protocol. */
export const readError = (
  { status, body }: Pick<Reply, 'status' | 'body'>,
  shape: ErrorShape | 'any' = 'plain',
): ErrorBody => {
  const json = parse(body);
  const wanted = shape === 'any' ? shapeNames : [shape];
  const error = wanted.map((name) => errorShapes[name].safeParse(json).data).find((found) => found !== undefined);
  if (!error) throw new Error(`${status} without the error shape of ${shape}: ${body.slice(0, 300)}`);
  const { message, code, param } = error;
  const row = new GatewayError(code, '');
  if (row.status !== status) throw new Error(`${code} goes with ${row.status}, not with ${status}`);
  return { message, code, param, type: row.type };
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const NAMING = [400, 404, 422];
/** How zod words an issue. */
const libraryWords = /(?:^|: )(?:Invalid input|Too (?:small|big): expected|Unrecognized key|Invalid option: expected)/;

/** What no answer to any client may be, whatever it sent: a bug's status, another error shape, a param that is not named. */
export const judge = (reply: Reply, shape: ErrorShape | 'any' = 'plain'): void => {
  if (reply.status === 500) throw new Error(`status 500: ${reply.body.slice(0, 300)}`);
  if (reply.status < 400) return;
  const { message, param } = readError(reply, shape);
  if (libraryWords.test(message)) throw new Error(`words of the validation library: ${message}`);
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
