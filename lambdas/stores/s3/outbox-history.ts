import type { DeleteMarkerEntry, ListObjectVersionsOutput, ObjectVersion, S3Client } from '@aws-sdk/client-s3';
import type { OutboxHistory } from '../../core/ledger/replay.ts';
import { find, send } from './objects.ts';
import { OUTBOX_PREFIX, parseNote } from './outbox.ts';

interface Found {
  /** Newest version that is not a delete marker. */
  readonly version: ObjectVersion;
  /** Time of the delete marker in Unix ms; undefined while the object exists. */
  readonly removedAtMs: number | undefined;
}

/**
 * Reads the outbox entries that a versioned bucket keeps. Throws Error for an entry that cannot be read, because an
 * operator must look at it.
 */
export const createOutboxHistory = (client: () => Promise<S3Client>, bucket: string): OutboxHistory => ({
  since: async function* (atMs) {
    const s3 = await client();
    for (const [key, { version, removedAtMs }] of await newestOf(s3, bucket)) {
      if (removedAtMs !== undefined && removedAtMs < atMs) continue;
      const text = await readVersion(s3, { Bucket: bucket, Key: key, VersionId: version.VersionId });
      // A lifecycle rule may remove a version after the listing.
      if (text === undefined) continue;
      yield { entry: parseNote(key.slice(OUTBOX_PREFIX.length), text), isWaiting: removedAtMs === undefined };
    }
  },
});

/** Returns the newest version of each object by key. Reads all pages first, because a page can end within a key. */
const newestOf = async (s3: S3Client, bucket: string): Promise<ReadonlyMap<string, Found>> => {
  const { ListObjectVersionsCommand } = await import('@aws-sdk/client-s3');
  const versions: ObjectVersion[] = [];
  const markers = new Map<string, DeleteMarkerEntry>();
  let after: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } | undefined = {};
  while (after) {
    const page = new ListObjectVersionsCommand({ Bucket: bucket, Prefix: OUTBOX_PREFIX, ...after });
    const found: ListObjectVersionsOutput = await send(() => s3.send(page));
    versions.push(...(found.Versions ?? []));
    for (const marker of found.DeleteMarkers ?? []) if (marker.IsLatest) markers.set(marker.Key ?? '', marker);
    after = found.IsTruncated
      ? { KeyMarker: found.NextKeyMarker, VersionIdMarker: found.NextVersionIdMarker }
      : undefined;
  }
  const newest = new Map<string, Found>();
  // S3 lists the versions of a key from the newest to the oldest.
  for (const version of versions) {
    const key = version.Key ?? '';
    if (newest.has(key)) continue;
    newest.set(key, { version, removedAtMs: markers.get(key)?.LastModified?.getTime() });
  }
  return newest;
};

const readVersion = async (
  s3: S3Client,
  place: { readonly Bucket: string; readonly Key: string; readonly VersionId: string | undefined },
): Promise<string | undefined> => {
  const { GetObjectCommand } = await import('@aws-sdk/client-s3');
  return find(async () => {
    const { Body } = await s3.send(new GetObjectCommand(place));
    return Body?.transformToString();
  });
};
