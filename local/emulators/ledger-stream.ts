import type { DynamoDBStreamEvent } from 'aws-lambda';
import type { ChargeRecord } from '../../lambdas/core/ledger/ledger.ts';
import { toItem } from '../../lambdas/stores/dynamodb/attribute-values.ts';
import type { Item } from '../../lambdas/stores/dynamodb/item.ts';
import { toAccount, toChargeRecord } from '../../lambdas/stores/dynamodb/ledger-items.ts';
import type { LedgerFeed } from '../page/ledger-feed.ts';

/** Limit of the charge records kept until their hold closes. */
const RECORDS_MAX = 1_000;

/** Processes what a stream of the accounts table delivers. Other items and unreadable items are ignored. */
export function fromStream(feed: LedgerFeed): (changes: DynamoDBStreamEvent) => void {
  const records = new Map<string, ChargeRecord>();
  const take = (record: ChargeRecord): void => {
    records.set(record.holdId, record);
    const [oldest] = records.keys();
    if (oldest !== undefined && records.size > RECORDS_MAX) records.delete(oldest);
  };
  const takeImages = (sort: string, { before, after }: Images, at: number): void => {
    if (!after) return;
    if (sort.startsWith('CHARGE#')) take(toChargeRecord(after));
    if (sort !== 'ACCOUNT') return;
    feed({
      before: before && toAccount(before),
      after: toAccount(after),
      at,
      recordOf: (holdId) => records.get(holdId),
    });
  };
  return ({ Records }) => {
    for (const { dynamodb } of Records) {
      const { OldImage, NewImage, Keys, ApproximateCreationDateTime = 0 } = dynamodb ?? {};
      try {
        const images = { before: toImage(OldImage), after: toImage(NewImage) };
        takeImages(Keys?.sk?.S ?? '', images, ApproximateCreationDateTime * 1_000);
      } catch {
        // The audit reports an unreadable item.
      }
    }
  };
}

interface Images {
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

/**
 * Converts an image of a stream record. Its attributes have the format of the DynamoDB client, apart from types that
 * these items do not use.
 */
const toImage = (image: object | undefined): Item | undefined => image && toItem(image as Parameters<typeof toItem>[0]);
