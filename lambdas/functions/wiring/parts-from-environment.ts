import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns';
import { ulid } from 'ulid';
import { createImageFetch } from '../../providers/image-fetch.ts';
import { createAddressCounters } from '../../stores/dynamodb/address-counters.ts';
import { createClaimStore } from '../../stores/dynamodb/claim-store.ts';
import { createKeyStore } from '../../stores/dynamodb/key-store.ts';
import { createLedgerRecords } from '../../stores/dynamodb/ledger-records.ts';
import { createAnswerStore } from '../../stores/s3/answer-store.ts';
import { createMediaStore } from '../../stores/s3/media-store.ts';
import { type Environment, openLedger } from './ledger-parts.ts';
import type { Parts } from './parts.ts';
import { createS3Access, patient } from './s3-clients.ts';
import { readPepper } from './secrets.ts';
import { openVideoParts } from './video-parts.ts';

export const partsFromEnvironment = async (environment: Environment): Promise<Parts> => {
  const ledger = openLedger(environment);
  const { clients, s3, settings } = ledger;
  const [pepper, videoParts] = await Promise.all([readPepper(settings), openVideoParts(ledger, environment)]);
  return {
    ...videoParts,
    newRequestId: ulid,
    pepper,
    ledgerRecords: createLedgerRecords(clients.repeating, settings.ACCOUNTS_TABLE),
    keys: createKeyStore(clients.repeating, settings.KEYS_TABLE),
    claims: createClaimStore(clients.repeating, settings.IDEMPOTENCY_TABLE),
    answers: createAnswerStore(s3, settings.MEDIA_BUCKET),
    addressCounters: createAddressCounters(clients.once, settings.COUNTERS_TABLE),
    media: createMediaStore(
      createS3Access({ endpoint: settings.S3_ENDPOINT, region: environment.AWS_REGION }, patient),
      settings.MEDIA_BUCKET,
    ),
    newMediaToken: () => randomBytes(16).toString('hex'),
    fetchImage: createImageFetch({ lookup }),
  };
};
