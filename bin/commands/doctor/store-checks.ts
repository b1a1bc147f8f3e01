import { setTimeout as sleep } from 'node:timers/promises';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { OUTBOX_PAGE } from '../../../lambdas/core/ledger/ledger.ts';
import { SKEW_MS_MAX } from '../../../lambdas/core/store-clock.ts';
import { tableNames } from '../../../lib/tables.ts';
import { networkFileSystemOf } from '../../../local/network-file-system.ts';
import type { Beat } from '../../../local/stores/sqlite/heartbeats.ts';
import { whyOf } from '../../exit.ts';
import type { Place } from '../../place.ts';
import type { AwsStores, Stores } from '../../stores.ts';
import { type Finding, failure, ok, tried } from './finding.ts';

const CLOCK_MS_MAX = 30_000;
const CALL_MS = 10_000;

/** Checks embedded stores. `openPlace` has already opened the database, so it is readable. */
export const checkEmbedded = ({ dataFolder, stores }: Place): Promise<Finding> =>
  tried('data folder', 'Check the disk. Restore a backup if files are damaged.', async () => {
    const type = networkFileSystemOf(dataFolder);
    if (type !== undefined) {
      const detail = `${dataFolder} is on a network file system (${type}), which is not supported`;
      return failure('data folder', detail, 'Stop the gateway and move the folder to a local disk.');
    }
    const problems = await stores.problems();
    if (problems.includes('disk_space')) {
      const detail = `the disk of ${dataFolder} is almost full: new requests get 503`;
      return failure('data folder', detail, 'Delete files until 96 MiB are free.');
    }
    if (problems.includes('database')) {
      return failure(
        'data folder',
        `the database in ${dataFolder} cannot be written`,
        'Check the disk and the permissions of the folder.',
      );
    }
    const waiting = (await stores.outbox.list()).length;
    const orMore = waiting === OUTBOX_PAGE ? ' or more' : '';
    return ok('data folder', `${dataFolder}, ${waiting}${orMore} outbox entries`);
  });

export const checkCredentials = ({ client }: AwsStores): Promise<Finding> =>
  tried('credentials', 'Log in, and set AWS_PROFILE and AWS_REGION.', async () => {
    await client.config.credentials();
    return ok('credentials', `found, for ${await client.config.region()}`);
  });

export const checkTables = async ({ client, table }: AwsStores, isLocal: boolean): Promise<Finding> => {
  const advice = isLocal
    ? 'Start the local gateway once. It creates the tables.'
    : 'Deploy the data stack, or check the region.';
  const problems = await Promise.all(
    tableNames.map(async (name) => {
      try {
        const { Table } = await client.send(new DescribeTableCommand({ TableName: table(name) }));
        return Table?.TableStatus === 'ACTIVE' ? undefined : `${name}: ${Table?.TableStatus}`;
      } catch (error) {
        return `${name}: ${whyOf(error)}`;
      }
    }),
  );
  const found = problems.filter((problem) => problem !== undefined);
  return found.length === 0
    ? ok('tables', `${tableNames.length} of ${tableNames.length} respond`)
    : failure('tables', found.join('; '), advice);
};

export const checkBucket = (aws: AwsStores, isLocal: boolean): Promise<Finding> => {
  const advice = isLocal
    ? 'Start the local gateway once. It creates the bucket.'
    : 'Deploy the data stack, or check the region.';
  return tried('bucket', advice, async () => {
    const { HeadBucketCommand } = await import('@aws-sdk/client-s3');
    const { bucket } = aws;
    await (await bucket.client()).send(new HeadBucketCommand({ Bucket: bucket.name }));
    return ok('bucket', `${bucket.where} responds`);
  });
};

/** Compares this clock with the store's: signatures, hold expiry and leases depend on it. */
export const checkClock = ({ client }: AwsStores, { environment }: Place): Promise<Finding> =>
  tried('clock', 'Check the network.', async () => {
    const address = environment.DYNAMODB_ENDPOINT || `https://dynamodb.${await client.config.region()}.amazonaws.com/`;
    const sentAt = Date.now();
    const { headers } = await fetch(address, { signal: AbortSignal.timeout(CALL_MS) });
    const date = headers.get('date');
    if (date === null) return ok('clock', 'not checked: the store sends no Date header');
    // The Date header has whole seconds, so assume the middle of the second.
    const aheadMs = (sentAt + Date.now()) / 2 - (Date.parse(date) + 500);
    const detail = `${Math.abs(aheadMs / 1_000).toFixed(1)} s ${aheadMs < 0 ? 'behind' : 'ahead of'} the store`;
    if (Math.abs(aheadMs) <= CLOCK_MS_MAX) return ok('clock', detail);
    return failure('clock', detail, 'Synchronize the clock of this machine with NTP.');
  });

/** A gateway beats every 15 s, so a row that stays the same for longer is of one that ended. */
const BEATS_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 1_000;

interface LocalClock {
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
}

/** Compares the clocks of the gateways that use the data folder with this one. Waits only if a row differs. */
export const checkLocalClocks = (
  { stores: { beats } }: { readonly stores: Pick<Stores, 'beats'> },
  { now, wait }: LocalClock = { now: Date.now, wait: sleep },
): Promise<Finding> =>
  tried('clock', 'Check the data folder.', async () => {
    const isOff = ({ atMs }: Beat): boolean => Math.abs(now() - atMs) > SKEW_MS_MAX + BEATS_WITHIN_MS;
    const first = beats?.() ?? [];
    const suspects = first.filter(isOff);
    for (let waitedMs = 0; suspects.length > 0 && waitedMs <= BEATS_WITHIN_MS; waitedMs += LOOK_EVERY_MS) {
      const running = beats?.().find((beat) =>
        suspects.some(({ name, count }) => name === beat.name && count !== beat.count),
      );
      if (running) {
        const aheadMs = running.atMs - now();
        const detail = `a gateway of this data folder is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs < 0 ? 'behind' : 'ahead of'} this machine`;
        return failure('clock', detail, 'Synchronize the clocks of both with NTP.');
      }
      await wait(LOOK_EVERY_MS);
    }
    return ok('clock', `${first.length - suspects.length} running gateways agree`);
  });
