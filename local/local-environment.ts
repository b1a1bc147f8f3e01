import { localTableNames } from './create-tables.ts';
import { localVideoTimes } from './local-settings.ts';
import { localMediaBucket } from './s3-stand-in.ts';

export type LocalParts = {
  /** Of the gateway itself. */
  readonly url: string;
  readonly databaseEndpoint: string;
  readonly bucketEndpoint: string;
  readonly pepper: string;
  readonly topUpKey: string;
  /** Of the messenger that is played here. */
  readonly bot: Readonly<Record<string, string>>;
};

/** What the functions read. Whatever the user has set and is not about the stand-ins stays. */
export const toEnvironment = (
  own: Readonly<Record<string, string | undefined>>,
  { url, databaseEndpoint, bucketEndpoint, pepper, topUpKey, bot }: LocalParts,
): Readonly<Record<string, string>> => ({
  AWS_REGION: 'us-east-1',
  DYNAMODB_ENDPOINT: databaseEndpoint,
  ACCOUNTS_TABLE: localTableNames.accounts,
  KEYS_TABLE: localTableNames.keys,
  COUNTERS_TABLE: localTableNames.counters,
  IDEMPOTENCY_TABLE: localTableNames.idempotency,
  VIDEOS_TABLE: localTableNames.videos,
  S3_ENDPOINT: bucketEndpoint,
  MEDIA_BUCKET: localMediaBucket,
  MEDIA_URL: own.MEDIA_URL || url,
  PUBLIC_URL: own.PUBLIC_URL || url,
  KEY_PEPPER: pepper,
  TOP_UP_KEY: topUpKey,
  TOP_UP_TEXT: own.TOP_UP_TEXT || `${url}/?topup={account}`,
  START_CREDIT_USD: own.START_CREDIT_USD || '1',
  LOG_FORMAT: own.LOG_FORMAT || 'line',
  ...bot,
  ...localVideoTimes(own),
});
