import { randomBytes } from 'node:crypto';
import { type DeploymentCheck, runSteps, type StepResult, stepNames } from '../../checks/deployment-steps.ts';
import { isApiKey } from '../../core/accounts/keys.ts';
import type { Settings } from '../../settings.ts';
import { createMediaStore } from '../../stores/s3/files.ts';
import type { CanaryFunctionDependencies } from './dependencies.ts';
import { type Environment, openLedger } from './ledger.ts';
import { readPublicUrl } from './public-url.ts';
import { nameOf, readSecret } from './secrets.ts';

const REQUEST_MS = 15_000;
/** Time in ms after which a run ends early, before its function times out. */
const RUN_MS = 240_000;

/**
 * Runs every five minutes. Not an HTTP function. Reports a failure as a metric and does not throw, so that the alarm of
 * the canary is the only one about it.
 */
export const createCanaryHandler =
  ({ openCheck, clock, reporting }: CanaryFunctionDependencies) =>
  async (): Promise<void> => {
    const startedAtMs = clock.now();
    const results: StepResult[] = [];
    try {
      for await (const result of runSteps(await openCheck())) results.push(result);
    } catch (error) {
      reporting.notice('canary_failed', { step: 'start', reason: reasonOf(error) });
    }
    const failures = results.filter(({ status }) => status === 'failed');
    for (const { name, detail } of failures) reporting.notice('canary_failed', { step: name, reason: detail });
    // A run that its time limit ended has fewer results.
    const isWell = results.length === stepNames.length && failures.length === 0;
    reporting.measured({ canary_ok: isWell ? 1 : 0, canary_ms: clock.now() - startedAtMs });
  };

/** Reason that the canary itself cannot run. Its message is safe to log; that of another error may quote the API key. */
class CanaryError extends Error {
  override readonly name = 'CanaryError';
}

const reasonOf = (error: unknown): string => (error instanceof CanaryError ? error.message : nameOf(error));

export const canaryDependenciesFromEnvironment = (environment: Environment): CanaryFunctionDependencies => {
  const { settings, s3, clock, reporting } = openLedger(environment);
  const media = createMediaStore(s3, settings.MEDIA_BUCKET);
  return { clock, reporting, openCheck: async () => toCheck(await readAccess(settings), { settings, media, clock }) };
};

interface Access {
  readonly publicUrl: string;
  readonly apiKey: string;
}

/** Reads both again in every run, because a deployment can change them. */
const readAccess = async (settings: Settings): Promise<Access> => {
  const { CANARY_KEY_SECRET } = settings;
  const [publicUrl, apiKey] = await Promise.all([
    readPublicUrl(settings),
    CANARY_KEY_SECRET && readSecret(CANARY_KEY_SECRET),
  ]);
  if (publicUrl === undefined) throw new CanaryError('The public URL is unknown. Deploy the front door.');
  if (!apiKey || !isApiKey(apiKey))
    throw new CanaryError('The secret holds no API key. Run `npm run check:deployed` for this environment.');
  return { publicUrl, apiKey };
};

const toCheck = (
  { publicUrl, apiKey }: Access,
  {
    settings: { CANARY_DIRECT_URL: directUrl },
    media,
    clock,
  }: { readonly settings: Settings; readonly media: ReturnType<typeof createMediaStore> } & Pick<
    DeploymentCheck,
    'clock'
  >,
): DeploymentCheck => ({
  baseUrlOf: () => publicUrl,
  apiKey,
  directUrls: directUrl === undefined ? [] : [directUrl],
  // AWS may send each request of a function from another address.
  ownAddress: async () => undefined,
  putImage: media.put,
  newMediaToken: () => randomBytes(16).toString('hex'),
  // The bot token, which can write to every user, is not worth the question.
  readWebhook: undefined,
  skipped: {
    'streamed chat': 'costs money',
    ...(directUrl === undefined ? { 'direct access': 'there is nothing to bypass' } : {}),
  },
  clock,
  send: fetch,
  timeoutMs: REQUEST_MS,
  signal: AbortSignal.timeout(RUN_MS),
});
