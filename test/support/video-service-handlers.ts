import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { catalogData } from '../../catalog/index.ts';
import { hashApiKey, labelOf, makeApiKey } from '../../lambdas/core/accounts/api-key.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { auditAccount } from '../../lambdas/core/ledger/audit.ts';
import { createContentHandler } from '../../lambdas/functions/wiring/content-handler.ts';
import { createClients } from '../../lambdas/functions/wiring/dynamodb-clients.ts';
import { systemClock } from '../../lambdas/functions/wiring/ledger-parts.ts';
import type { Parts } from '../../lambdas/functions/wiring/parts.ts';
import { partsFromEnvironment } from '../../lambdas/functions/wiring/parts-from-environment.ts';
import { createVideoStepsHandler } from '../../lambdas/functions/wiring/video-steps-handler.ts';
import { createVideosHandler } from '../../lambdas/functions/wiring/videos-handler.ts';
import { createWebhookSender } from '../../lambdas/providers/webhook.ts';
import { readSettings } from '../../lambdas/settings.ts';
import { localTableNames } from '../../lib/local/create-tables.ts';
import { localMediaBucket } from '../../lib/local/s3-stand-in.ts';
import { localMachineArn, startStepFunctions } from '../../lib/local/step-functions-stand-in.ts';
import { definitionPath, readDefinition, toSubstitutions } from '../../lib/video/definition.ts';
import { type Answer, functionUrlEvent, invoke, type Sent } from '../lambdas/http/function-url.ts';
import { startTestDynamodb } from './dynamodb.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { startTestBucket } from './fault-proxy-bucket.ts';
import { s3Wire } from './fault-proxy-wire.ts';
import { putKey } from './put-key.ts';

/** Of a step that fails; the deployed definition goes on for minutes. */
const REPEATS = 3;

const companySchema = z.strictObject({ models: z.array(z.looseObject({ id: z.string() })) });

/** The catalog with one more model that is sold. */
const catalogWith = (modelId: string) => {
  const companies = Object.entries(catalogData.companies).map(([name, company]) => {
    const { models } = companySchema.parse(company);
    const sold = { enabled: true, lifecycle: { shutdownDate: null } };
    return [name, { models: models.map((model) => (model.id === modelId ? { ...model, ...sold } : model)) }];
  });
  return loadCatalog({ ...catalogData, companies: Object.fromEntries(companies) });
};

interface HandlerOptions {
  readonly vendorUrl: string;
  /** Sold here, whether or not the catalog sells it. */
  readonly modelId: string;
  readonly fundsPicos: bigint;
  /** Where webhooks for `client.example:8080` arrive, which is not public. */
  readonly webhookPort: number;
}

/** The handlers of videos as they are deployed, in this process, on real stores and the machine with fewer repeats, with a clock that can be put forward. */
export async function startVideoHandlers({ vendorUrl, modelId, fundsPicos, webhookPort }: HandlerOptions) {
  const [database, bucket] = await Promise.all([startTestDynamodb(), startTestBucket()]);
  /** Parts of names that the bucket takes nothing of. */
  const unstorable = new Set<string>();
  const proxy = await startFaultProxy({
    target: bucket.endpoint,
    wire: s3Wire,
    plan: ({ key }) => ([...unstorable].some((part) => key.includes(part)) ? { kind: 'fail-before' } : undefined),
  });
  const pepper = randomBytes(32).toString('hex');
  const environment = {
    ...{ AWS_REGION: 'us-east-1', DYNAMODB_ENDPOINT: database.endpoint, S3_ENDPOINT: proxy.endpoint },
    ...{ ACCOUNTS_TABLE: localTableNames.accounts, KEYS_TABLE: localTableNames.keys },
    ...{ COUNTERS_TABLE: localTableNames.counters, IDEMPOTENCY_TABLE: localTableNames.idempotency },
    ...{ VIDEOS_TABLE: localTableNames.videos, MEDIA_BUCKET: localMediaBucket, KEY_PEPPER: pepper },
    ...{
      VIDEO_POLL_SECONDS: '1',
      VIDEO_POLL_SECONDS_MAX: '1',
      VIDEO_RETRY_SECONDS: '1',
      VIDEO_WEBHOOK_RETRY_SECONDS: '1',
    },
    ...{ LIMIT_KEY_BURST: '1000000', LIMIT_ADDRESS_BURST: '1000000' },
    ...{ OPENAI_API_KEY: 'vendor-key', OPENAI_BASE_URL: `${vendorUrl}/v1` },
    ...{ ARK_API_KEY: 'vendor-key', ARK_BASE_URL: `${vendorUrl}/api/v3` },
  };
  let steps: ((task: unknown) => Promise<unknown>) | undefined;
  const runTask = async (task: unknown): Promise<unknown> => steps?.(task);
  const machine = await startStepFunctions({
    definition: readDefinition(
      toSubstitutions({ stepFunctionArn: localMachineArn, settings: readSettings(environment) }),
      readFileSync(definitionPath, 'utf8').replaceAll(/"MaxAttempts": \d+/g, `"MaxAttempts": ${REPEATS}`),
    ),
    runTask,
    onUnfinished: async (videoId) => void (await runTask({ step: 'release', videoId })),
    onFailure: (message) => {
      throw new Error(message);
    },
  });
  let aheadMs = 0;
  const now = (): number => Date.now() + aheadMs;
  const deliver = createWebhookSender({
    lookup: (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
    now,
    reach: { address: (address) => address === '127.0.0.1', port: (port) => port === webhookPort },
  });
  const parts: Parts = {
    ...(await partsFromEnvironment({
      ...{ ...environment, SFN_ENDPOINT: machine.endpoint, VIDEO_MACHINE_ARN: machine.machineArn },
    })),
    catalog: catalogWith(modelId),
    clock: { ...systemClock, now },
    sendWebhook: ({ url, ...delivery }) =>
      deliver({ ...delivery, url: url.replace('client.example:8080', `client.example:${webhookPort}`) }),
    reporting: { finished: () => undefined, notice: () => undefined, measured: () => undefined },
  };
  steps = createVideoStepsHandler(parts);

  const accountId = 'account-1';
  const apiKey = makeApiKey(randomBytes(32));
  const clients = createClients({ endpoint: database.endpoint, region: 'us-east-1' });
  await parts.ledgerStore.createAccount(accountId);
  await parts.ledgerStore.credit({ accountId, ref: 'first', amountPicos: fundsPicos, reason: 'test', at: 0 });
  const key = { hash: hashApiKey(pepper, apiKey), accountId, label: labelOf(apiKey), pepperId: '1' };
  await putKey(clients.repeating, localTableNames.keys, key);

  const handlers = { videos: createVideosHandler(parts), content: createContentHandler(parts) };
  const send = ({ headers, ...sent }: Sent & { readonly path: string }): Promise<Answer> =>
    invoke(
      sent.path.endsWith('/content') ? handlers.content : handlers.videos,
      functionUrlEvent({ ...sent, base64: true, headers: { authorization: `Bearer ${apiKey}`, ...headers } }),
    );
  return {
    parts,
    apiKey,
    unstorable,
    send,
    create: (body: object) => send({ method: 'POST', path: '/v1/videos', body: JSON.stringify(body) }),
    account: async () => {
      const account = await parts.ledgerStore.readAccount(accountId);
      if (!account) throw new Error(`there is no ${accountId}`);
      return account;
    },
    audit: () =>
      auditAccount({ store: parts.ledgerStore, records: parts.ledgerRecords, clock: parts.clock }, accountId),
    /** Milliseconds from now on, in all. */
    setAhead: (ms: number) => {
      aheadMs = ms;
    },
    async stop() {
      await machine.stop();
      for (const client of [clients.once, clients.repeating]) client.destroy();
      await proxy.stop();
      await Promise.all([database.stop(), bucket.stop()]);
    },
  };
}
