import * as z from 'zod';
import { errorCodes, GatewayError } from '../../lambdas/core/errors/gateway-error.ts';
import { HOLDS_MAX } from '../../lambdas/core/ledger/account.ts';
import type { HostileGateway } from './hostile-gateway.ts';
import type { Reply } from './hostile-wire.ts';

const errorBody = z.strictObject({
  error: z.strictObject({
    message: z.string().min(1),
    type: z.string(),
    code: z.enum(errorCodes),
    param: z.string().nullable(),
  }),
});

export type ErrorBody = z.output<typeof errorBody>['error'];

/** GEN-3 and ERR-1, or a failed test. */
export const readError = ({ status, body }: Pick<Reply, 'status' | 'body'>): ErrorBody => {
  const parsed = errorBody.safeParse(parse(body));
  if (!parsed.success) throw new Error(`${status} without the one error shape: ${body.slice(0, 300)}`);
  const { error } = parsed.data;
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
export const judge = (reply: Reply, toHead = false): void => {
  if (reply.status === 500) throw new Error(`status 500: ${reply.body.slice(0, 300)}`);
  if (reply.status < 400 || toHead) return;
  const { message, param } = readError(reply);
  if (NAMING.includes(reply.status) && param !== null && !message.includes(param)) {
    throw new Error(`${reply.status}: the message does not name ${JSON.stringify(param).slice(0, 200)}: ${message}`);
  }
};

/** Pico-USD. */
export interface Money {
  readonly spent: bigint;
  readonly available: bigint;
}

/** Fails while anything is held: every request has ended when this is asked. */
export const moneyOf = async ({ ledger }: HostileGateway, accountId: string): Promise<Money> => {
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
