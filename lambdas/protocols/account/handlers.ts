import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { Account, LedgerStore } from '../../core/ledger/ledger.ts';
import type { LedgerRecords } from '../../core/ledger/records.ts';
import { readStatement, type StatementDependencies } from '../../core/ledger/statement.ts';
import { listUsage, usageOfRequest } from '../../core/ledger/usage.ts';
import { admissionOf, type Exchange, json, type RouteHandler } from '../../http/exchange.ts';
import { orUnavailable, toAccountObject } from '../account-reads.ts';
import { csvFile } from '../csv.ts';
import { readMonth, statementOf, toStatementCsv, toStatementObject } from './statement-object.ts';
import { formatParameters, readFormat, readUsageQuery, refuseUnknown, toCursor } from './usage-query.ts';
import { toCsv, toOpenRow, toUsageRow } from './usage-row.ts';

/** GET /api/account (BILL-15). */
export const createGetAccount =
  (readAccount: (accountId: string) => Promise<Account | undefined>): RouteHandler =>
  async (exchange) => {
    const account = await orUnavailable(readAccount(admissionOf(exchange).accountId));
    if (!account) throw new Error('the account of a valid API key is missing');
    return json(200, toAccountObject(account));
  };

export interface UsageDependencies {
  readonly ledgerStore: Pick<LedgerStore, 'readAccount'>;
  readonly ledgerRecords: LedgerRecords;
}

type AccountIdOf = (exchange: Exchange) => string | Promise<string>;

/** GET /api/usage (BILL-15) and GET /app/api/usage: the cost of every request of this account, newest first. */
export const createListUsage =
  (
    { ledgerRecords }: Pick<UsageDependencies, 'ledgerRecords'>,
    accountIdOf: AccountIdOf = (exchange) => admissionOf(exchange).accountId,
  ): RouteHandler =>
  async (exchange) => {
    const accountId = await accountIdOf(exchange);
    const { range, format } = readUsageQuery(exchange.event.queryStringParameters ?? {});
    const { records, nextHoldId } = await orUnavailable(listUsage(ledgerRecords, accountId, range));
    const rows = records.map(toUsageRow);
    const next = nextHoldId === undefined ? null : toCursor(nextHoldId);
    if (format === 'json') return json(200, { object: 'list', data: rows, has_more: next !== null, next_cursor: next });
    return csvFile('usage.csv', toCsv(rows), format, next === null ? {} : { 'x-service-next-cursor': next });
  };

export const statementParameters = formatParameters;

/** GET /api/statements/{month} (BILL-22): the statement of one calendar month in UTC. */
export const createGetStatement =
  (deps: StatementDependencies): RouteHandler =>
  async (exchange) => {
    const query = exchange.event.queryStringParameters ?? {};
    refuseUnknown(query, statementParameters);
    const format = readFormat(query);
    const month = readMonth(exchange.route?.params.month ?? '');
    const reply = await orUnavailable(readStatement(deps, admissionOf(exchange).accountId, month));
    const statement = toStatementObject(statementOf(reply, month));
    if (format === 'json') return json(200, statement);
    return csvFile(`statement-${month}.csv`, toStatementCsv(statement), format);
  };

const requestIdForm = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** GET /api/usage/{request_id} (BILL-15). A request of another account is not found (AUTH-7). */
export const createGetUsage =
  ({ ledgerStore, ledgerRecords }: UsageDependencies): RouteHandler =>
  async (exchange) => {
    const { accountId } = admissionOf(exchange);
    // The id of a video is the id of its request with a prefix.
    const requestId = (exchange.route?.params.request_id ?? '').replace(/^video_/, '');
    const found = requestIdForm.test(requestId)
      ? await orUnavailable(usageOfRequest(ledgerStore, ledgerRecords, { accountId, requestId }))
      : undefined;
    if (!found) {
      throw new GatewayError('not_found', 'There is no charged, released or open request with this id. Check the id.');
    }
    return json(200, found.kind === 'ended' ? toUsageRow(found.record) : toOpenRow(requestId, found.hold));
  };
