import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns';
import { createAccountStore } from '../../stores/dynamodb/account-store.ts';
import { createClaimStore } from '../../stores/dynamodb/claim-store.ts';
import { createKeyStore } from '../../stores/dynamodb/key-store.ts';
import { createLedgerRecords } from '../../stores/dynamodb/ledger-records.ts';
import { createAddressCounters } from '../../stores/dynamodb/rate-bucket.ts';
import { createUpdateLog } from '../../stores/dynamodb/update-log.ts';
import { createAnswerStore, createMediaStore } from '../../stores/s3/files.ts';
import { createBundledPages } from './bundled-pages.ts';
import { createS3Access, patient } from './clients.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { frontDoorOf } from './front-door.ts';
import { createRequestIds, type Environment, openLedger, watchPauses } from './ledger.ts';
import { onFirstUse } from './on-first-use.ts';
import { readPublicUrl } from './public-url.ts';
import { readBotToken, readPeppers, readTopUpKey } from './secrets.ts';
import { withTracing } from './tracing.ts';
import { openVideoParts } from './video-dependencies.ts';

export const dependenciesFromEnvironment = async (environment: Environment): Promise<FunctionDependencies> => {
  const ledger = openLedger(environment);
  const { db, s3, settings, clock, reporting } = ledger;
  const [frontDoor, publicUrl, peppers, botToken, topUpKey, videoDeps] = await Promise.all([
    frontDoorOf(settings, { clock, notice: reporting.notice }),
    readPublicUrl(settings),
    readPeppers(settings),
    readBotToken(settings),
    readTopUpKey(settings),
    openVideoParts(ledger, environment),
  ]);
  const tables = { accounts: settings.ACCOUNTS_TABLE, keys: settings.KEYS_TABLE };
  const files = createS3Access({ endpoint: settings.S3_ENDPOINT, region: environment.AWS_REGION }, patient);
  return {
    ...withTracing(videoDeps, environment),
    problems: async () => ((await videoDeps.clockProblem?.()) === undefined ? [] : ['clock']),
    newRequestId: createRequestIds(clock),
    pauses: watchPauses(),
    frontDoor,
    publicUrl,
    ...peppers,
    secrets: { botToken, topUpKey },
    ledgerRecords: createLedgerRecords(db.repeating, settings.ACCOUNTS_TABLE),
    keys: createKeyStore(db, tables),
    accounts: createAccountStore(db.repeating, tables),
    updates: createUpdateLog(db.repeating, settings.COUNTERS_TABLE),
    claims: createClaimStore(db.repeating, settings.IDEMPOTENCY_TABLE),
    answers: createAnswerStore(s3, settings.MEDIA_BUCKET),
    addressCounters: createAddressCounters(db.once, settings.COUNTERS_TABLE),
    media: createMediaStore(files, settings.MEDIA_BUCKET),
    pages: createBundledPages(),
    newMediaToken: () => randomBytes(16).toString('hex'),
    fetchImage: onFirstUse(async () => (await import('../../providers/image-fetch.ts')).createImageFetch({ lookup })),
  };
};
