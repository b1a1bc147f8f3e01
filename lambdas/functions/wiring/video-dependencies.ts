import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns';
import type { Catalog } from '../../core/catalog/catalog.ts';
import type { LoadOptions } from '../../core/catalog/load-options.ts';
import { openPreparedCatalog } from '../../core/catalog/prepared-catalog.ts';
import type { VideoWorkflow } from '../../core/videos/dependencies.ts';
import { createUpstreamHttp } from '../../providers/upstream-http.ts';
import { createCircuitStore } from '../../stores/dynamodb/circuit-store.ts';
import { createVideoJobStore } from '../../stores/dynamodb/video-job-store.ts';
import { createWebhookSecretStore } from '../../stores/dynamodb/webhook-secret-store.ts';
import { createVideoFiles } from '../../stores/s3/video-files.ts';
import { createVideoWorkflow } from '../../stores/step-functions/video-machine.ts';
import { type ClientOptions, createS3Access, patient } from './clients.ts';
import type { VideoFunctionDependencies } from './dependencies.ts';
import { type Environment, type OpenLedger, openLedger } from './ledger.ts';
import { onFirstUse } from './on-first-use.ts';
import { createStepFunctionsAccess } from './step-functions-client.ts';
import { openVendorAccess } from './vendor-access.ts';

/** Prepared catalog, which `bundle` in `lib/constructs/bundled-code.ts` writes into the code. Undefined elsewhere. */
declare const PREPARED_CATALOG: string | undefined;

/**
 * Opens the catalog of this program, and checks it only where there is no bundle. A bundle contains only the branch that
 * it uses, because the condition is constant there. Throws a CatalogError.
 */
const openCatalog = async (options: LoadOptions): Promise<Catalog> =>
  typeof PREPARED_CATALOG === 'string'
    ? openPreparedCatalog(PREPARED_CATALOG, options)
    : (await import('../../core/catalog/load-catalog.ts')).loadCatalog(
        (await import('../../../catalog/index.ts')).catalogData,
        options,
      );

/** Needs no pepper, because this function is not called over HTTP. */
export const videoDependenciesFromEnvironment = (environment: Environment): Promise<VideoFunctionDependencies> =>
  openVideoParts(openLedger(environment), environment);

export const openVideoParts = async (
  { db, s3: _s3, ...ledgerDeps }: OpenLedger,
  environment: Environment,
): Promise<VideoFunctionDependencies> => {
  const { settings } = ledgerDeps;
  const { AWS_REGION: region } = environment;
  const catalog = await openCatalog({ markup: settings.MARKUP, companies: settings.CATALOGS?.split(',') });
  const vendorAccess = await openVendorAccess(catalog, environment, ledgerDeps);
  return {
    ...ledgerDeps,
    catalog,
    circuitStore: createCircuitStore(db.once, settings.COUNTERS_TABLE),
    videoJobs: createVideoJobStore(db.repeating, settings.VIDEOS_TABLE),
    videoFiles: createVideoFiles(
      createS3Access({ endpoint: settings.S3_ENDPOINT, region }, patient),
      settings.MEDIA_BUCKET,
    ),
    videoMachine: openMachine(settings.VIDEO_MACHINE_ARN, { endpoint: settings.SFN_ENDPOINT, region }),
    upstreamHttp: createUpstreamHttp(),
    vendorAccess,
    sendWebhook: onFirstUse(async () => {
      const { createWebhookSender } = await import('../../providers/webhook.ts');
      return createWebhookSender({ lookup, now: () => ledgerDeps.clock.now() });
    }),
    webhookSecrets: createWebhookSecretStore(db.repeating, settings.ACCOUNTS_TABLE),
    newKeyBytes: () => randomBytes(32),
  };
};

const openMachine = (arn: string | undefined, options: ClientOptions): VideoWorkflow =>
  arn === undefined
    ? { start: () => Promise.reject(new Error('VIDEO_MACHINE_ARN: not set, so videos cannot be started')) }
    : createVideoWorkflow(createStepFunctionsAccess(options), arn);
