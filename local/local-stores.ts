import { createTables } from './create-tables.ts';
import type { DataFolder } from './data-folder.ts';
import { startDynamodb } from './dynamodb-stand-in.ts';
import type { LocalSettings } from './local-settings.ts';
import { createMediaBucket, startS3 } from './s3-stand-in.ts';
import type { StandIn } from './welcome.ts';

export type LocalStore = { readonly endpoint: string; readonly standIn: StandIn; stop(): Promise<void> };

/** The user's own database, or the stand-in, with every table. */
export async function openDatabase(
  { DYNAMODB_ENDPOINT, DATA_DIR }: LocalSettings,
  folder: DataFolder,
  onExit: (message: string) => void,
): Promise<LocalStore> {
  if (DYNAMODB_ENDPOINT) {
    await createTables(DYNAMODB_ENDPOINT);
    return yours('DynamoDB', DYNAMODB_ENDPOINT);
  }
  const standIn = await startDynamodb({ folder, onExit });
  return { ...standIn, standIn: ['DynamoDB', `dynoxide, data in ${DATA_DIR}`] };
}

/** The same for the bucket. */
export async function openBucket({ S3_ENDPOINT, DATA_DIR }: LocalSettings, folder: DataFolder): Promise<LocalStore> {
  if (S3_ENDPOINT) {
    await createMediaBucket(S3_ENDPOINT);
    return yours('S3', S3_ENDPOINT);
  }
  const standIn = await startS3(folder);
  return { ...standIn, standIn: ['S3', `s3rver, data in ${DATA_DIR}`] };
}

const yours = (part: string, endpoint: string): LocalStore => ({
  endpoint,
  standIn: [part, `yours, at ${endpoint}`],
  stop: async () => undefined,
});
