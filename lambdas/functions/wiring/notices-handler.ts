import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { type BalanceChange, isCrossing } from '../../core/accounts/low-balance.ts';
import { createNotifications, type NotificationOutcome } from '../../core/accounts/send-notifications.ts';
import { StoreError } from '../../core/errors/store-error.ts';
import { createNotificationSender } from '../../messenger/low-balance-notification.ts';
import { createAccountStore } from '../../stores/dynamodb/account-store.ts';
import { readBalanceChange } from '../../stores/dynamodb/chat-item.ts';
import type { NoticesFunctionDependencies, Reporting } from './dependencies.ts';
import { type Environment, openLedger } from './ledger.ts';
import { readPublicUrl } from './public-url.ts';
import { readBotToken } from './secrets.ts';

/**
 * Time in ms after which a run starts no further notification. The function may run for a minute, and one notification
 * may take half of it.
 */
const BUDGET_MS = 30_000;

/**
 * Handles writes to the accounts table, in the order of each account's writes. Not an HTTP function. A record that is
 * returned as failed is delivered again, with all records after it. Throws Error for a record without a sequence
 * number.
 */
export const createNoticesHandler = (deps: NoticesFunctionDependencies) => {
  const { sendNotification, clock, reporting } = deps;
  if (!sendNotification) return async (_event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => toAnswer([]);
  const deliver = createNotifications({ ...deps, sendNotification });
  return async ({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
    const startedAtMs = clock.now();
    const failed: string[] = [];
    for (const record of Records) {
      const sequenceNumber = sequenceNumberOf(record);
      const isLate = clock.now() - startedAtMs >= BUDGET_MS;
      if (isLate || !(await isDone(record, deliver, reporting))) failed.push(sequenceNumber);
    }
    return toAnswer(failed);
  };
};

const toAnswer = (sequenceNumbers: readonly string[]): DynamoDBBatchResponse => ({
  batchItemFailures: sequenceNumbers.map((itemIdentifier) => ({ itemIdentifier })),
});

const sequenceNumberOf = ({ dynamodb }: DynamoDBRecord): string => {
  if (dynamodb?.SequenceNumber) return dynamodb.SequenceNumber;
  throw new Error('a record of the stream has no sequence number');
};

type Deliver = (change: BalanceChange) => Promise<NotificationOutcome>;

/** A record that fails does not delay the others. */
const isDone = async (record: DynamoDBRecord, deliver: Deliver, { notice }: Reporting): Promise<boolean> => {
  const change = readOrUndefined(record);
  if (change === 'unreadable') {
    notice('account_change_unreadable', { sequenceNumber: sequenceNumberOf(record) });
    return false;
  }
  if (!change || !isCrossing(change)) return true;
  const outcome = await deliver(change).catch(toFailure);
  if (outcome.kind !== 'done') {
    const { accountId } = change;
    notice(outcome.kind === 'failed' ? 'notice_failed' : 'notice_refused', { accountId, reason: outcome.reason });
  }
  return outcome.kind !== 'failed';
};

const readOrUndefined = (record: DynamoDBRecord): BalanceChange | undefined | 'unreadable' => {
  try {
    return readBalanceChange(record);
  } catch {
    return 'unreadable';
  }
};

const toFailure = (error: unknown): NotificationOutcome => {
  if (!(error instanceof StoreError)) throw error;
  return { kind: 'failed', reason: `the store: ${error.kind}` };
};

export const noticesDependenciesFromEnvironment = async (
  environment: Environment,
): Promise<NoticesFunctionDependencies> => {
  const { settings, db, clock, random, reporting } = openLedger(environment);
  const tables = { accounts: settings.ACCOUNTS_TABLE, keys: settings.KEYS_TABLE };
  const [botToken, publicUrl] = await Promise.all([readBotToken(settings), readPublicUrl(settings)]);
  return {
    clock,
    random,
    accounts: createAccountStore(db.repeating, tables),
    sendNotification:
      botToken === undefined
        ? undefined
        : createNotificationSender({ access: { botToken, apiUrl: settings.BOT_API_URL }, publicUrl }),
    reporting,
  };
};
