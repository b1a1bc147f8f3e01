import { GatewayError } from '../../core/errors/gateway-error.ts';
import { type CreditPorts, creditAccount } from '../../core/ledger/credit.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { json, type RouteHandler } from '../../http/exchange.ts';
import { orUnavailable } from '../account-reads.ts';
import { readCreditBody } from './request.ts';

const UNCERTAIN = 'The payment may be credited or not. Send it again with the same ref: it is credited once.';

/** POST /app/credits (KEY-6): what a payment provider reports a payment to. */
export const createCreditAccount =
  (ports: CreditPorts): RouteHandler =>
  async (exchange) => {
    const { account: accountId, ref, amount_usd: amountPicos } = readCreditBody(exchange.body?.json);
    const order = { accountId, ref, amountPicos, reason: 'top-up' };
    const credited = await orUnavailable(creditAccount(ports, order), UNCERTAIN);
    if (credited.kind === 'no-account') throw noAccount();
    exchange.summary.accountId = accountId;
    if (credited.kind === 'other-amount') throw mismatch(credited.amountPicos);
    return json(200, {
      object: 'credit',
      account: accountId,
      ref,
      amount_usd: formatUsd(amountPicos),
      repeated: credited.kind === 'repeated',
      balance_usd: formatUsd(credited.balancePicos),
    });
  };

const noAccount = (): GatewayError =>
  new GatewayError('not_found', 'account: there is no account of this id. Nothing was credited.', { param: 'account' });

const mismatch = (firstPicos: bigint): GatewayError =>
  new GatewayError(
    'credit_mismatch',
    `amount_usd: this ref has credited ${formatUsd(firstPicos)} USD before. Nothing was credited now; another payment needs another ref.`,
    { param: 'amount_usd' },
  );
