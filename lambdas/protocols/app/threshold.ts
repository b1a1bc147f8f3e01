import * as z from 'zod';
import type { AccountStore } from '../../core/accounts/account-store.ts';
import type { Clock } from '../../core/clock.ts';
import { formatUsd, PICOS_PER_USD } from '../../core/money/usd.ts';
import { untilDefinite } from '../../core/retry.ts';
import { json, type RouteHandler } from '../../http/exchange.ts';
import { orUnavailable } from '../account-reads.ts';
import { parseWith } from '../parse.ts';
import { usdAmount } from '../usd-amount.ts';
import type { AccountIdOf } from './account-of-chat.ts';

export interface ThresholdPorts {
  readonly accountIdOf: AccountIdOf;
  readonly accounts: Pick<AccountStore, 'setThreshold'>;
  readonly clock: Clock;
  readonly random: () => number;
}

export const thresholdBody = z.strictObject({
  threshold_usd: usdAmount({ leastPicos: 0n, mostPicos: 1_000_000n * PICOS_PER_USD, example: '2.5' }),
});

const UNCERTAIN = 'The account cannot be reached at the moment. Try again later.';

/** POST /app/api/threshold (KEY-3): the balance at which a notice is sent; 0 is never. */
export const createSetThreshold =
  (ports: ThresholdPorts): RouteHandler =>
  async (exchange) => {
    const accountId = await ports.accountIdOf(exchange);
    const { threshold_usd: picos } = parseWith(thresholdBody, exchange.body?.json);
    const setting = untilDefinite(ports, () => ports.accounts.setThreshold(accountId, picos));
    const reply = await orUnavailable(setting, UNCERTAIN);
    if (reply === 'no-account') throw new Error('the account of a chat is missing');
    return json(200, { threshold_usd: formatUsd(picos) });
  };
