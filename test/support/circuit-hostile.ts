import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { realCircuit } from './circuit-calls.ts';
import { judge, readError } from './hostile-oracle.ts';
import { chat, type PostRoute } from './hostile-routes.ts';
import { openWire, type Reply, readReply, toBytes } from './hostile-wire.ts';
import { frozenClock, type InProcessGateway, type InProcessOptions, startInProcess } from './in-process-gateway.ts';
import { openClient } from './stream-life-client.ts';

export interface Sent {
  readonly headers?: readonly string[];
  /** Complete body as text, or members to add to a valid body. */
  readonly body?: string | object;
  readonly target?: string;
}

export interface Outcome {
  /**
   * `200`, `200 again` for a replayed response, `400 <param>` for an `invalid_request_error`, otherwise status and
   * code.
   */
  readonly outcome: string;
  readonly reply: Reply;
}

const outcomeOf = (reply: Reply, route: PostRoute): string => {
  if (reply.status < 400) return reply.headers.has('idempotent-replayed') ? `${reply.status} again` : '200';
  const { code, param } = readError(reply, route.shape);
  return code === 'invalid_request_error' ? `${reply.status} ${param}` : `${reply.status} ${code}`;
};

/**
 * Sends a request and returns its outcome. The client sends the whole request and then reads, so it also sees a
 * response that comes before the server has read the body.
 */
export const sendTo = async (
  { port }: Pick<InProcessGateway, 'port'>,
  route: PostRoute,
  apiKey: string,
  { headers = [], body = {}, target = route.target }: Sent = {},
): Promise<Outcome> => {
  const socket = await openWire(port);
  const reading = readReply(socket, 30_000);
  const text = typeof body === 'string' ? body : JSON.stringify(route.body('hi', body));
  socket.write(
    toBytes({
      ...{ method: 'POST', target, body: text, keepAlive: true },
      headers: [...route.headers(apiKey), ...headers],
    }),
  );
  const reply = await reading;
  socket.destroy();
  judge(reply, route.shape);
  return { outcome: outcomeOf(reply, route), reply };
};

export const outcomeAfter = async (...sent: Parameters<typeof sendTo>): Promise<string> =>
  (await sendTo(...sent)).outcome;

/** Starts a gateway with the default circuit settings. */
export const startCircuitGateway = (options: InProcessOptions): Promise<InProcessGateway> =>
  startInProcess({ now: frozenClock, ...options, environment: { ...realCircuit, ...options.environment } });

/** Causes five failures in a row, by two accounts. */
export const openCircuit = async (gateway: InProcessGateway, route: PostRoute): Promise<void> => {
  const keys = [await gateway.issue({ balanceUsd: '100' }), await gateway.issue({ balanceUsd: '100' })];
  const body = JSON.stringify(route.body('[[status 500]]'));
  for (let failure = 0; failure < 5; failure += 1) {
    const outcome = await outcomeAfter(gateway, route, keys[failure % 2]!.apiKey, { body });
    if (outcome !== '502 upstream_error') throw new Error(`the provider did not fail: ${outcome}`);
  }
};

/** Holds the whole balance of the account, so that no further request can be paid. */
export const holdAll = async ({ ledger }: InProcessGateway, accountId: string): Promise<void> => {
  const account = await ledger.readAccount(accountId);
  if (!account) throw new Error('no such account');
  const each = { accountId, expiresAtMs: 0, sweepAtMs: 0, previousHoldId: undefined };
  await ledger.hold({ ...each, holdId: 'all.0', amountPicos: account.availablePicos });
};

/** Starts streams and leaves each. The provider does not end them. */
export const leaveStreams = async (gateway: InProcessGateway, apiKey: string, count: number): Promise<void> => {
  const body = JSON.stringify(chat.body('[[words 20]] [[stall 3]]', { stream: true }));
  const bytes = toBytes({ method: 'POST', target: chat.target, headers: chat.headers(apiKey), body });
  const leave = async (): Promise<void> => {
    const client = await openClient(gateway.port, bytes);
    await client.saw('data: ');
    await client.leave('resets');
  };
  await Promise.all(Array.from({ length: count }, leave));
};

export const CENT = parseUsd('0.01');
