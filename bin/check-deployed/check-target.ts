import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { type DeploymentCheck, type StepName, stepsOfModel } from '../../lambdas/checks/deployment-steps.ts';
import { readBotToken } from '../../lambdas/functions/wiring/secrets.ts';
import type { HttpFunction } from '../../lambdas/routes.ts';
import { createMediaStore } from '../../lambdas/stores/s3/files.ts';
import { hostOf } from '../../lib/environment-schema.ts';
import { prefixOf } from '../../lib/environments.ts';
import { functionNames } from '../../lib/functions.ts';
import { providerKeyState } from '../commands/doctor/secret-checks.ts';
import { checkWebhook } from '../commands/doctor/webhook-check.ts';
import { CONFIG_FILE, environmentOf } from '../config.ts';
import { failed } from '../exit.ts';
import type { Place } from '../place.ts';
import { readOutputs } from '../place-stack.ts';
import { steady } from '../with-retries.ts';

const REQUEST_MS = 60_000;
const ADDRESS_MS = 5_000;

/** AWS returns the IPv4 address of the caller: https://checkip.amazonaws.com/ */
const ADDRESS_URL = 'https://checkip.amazonaws.com/';

/** Dependencies of a check of the environment, without its API key. */
export type CheckTarget = Omit<DeploymentCheck, 'apiKey' | 'signal'>;

export interface TargetOptions {
  /** Whether to run the steps that cost money. */
  readonly stream: boolean;
  /** Sends the requests of the steps. */
  readonly send: typeof fetch;
}

/** Reads the URLs of the environment, and which steps do not apply to it. Throws a CliError. */
export const readTarget = async (place: Place, name: string, { stream, send }: TargetOptions): Promise<CheckTarget> => {
  const { frontDoor } = environmentOf(name);
  const { aws } = place.stores;
  if (!aws) throw failed(`${name}: has no bucket.`);
  const urls = await functionUrls(name);
  const { BOT_TOKEN_SECRET } = place.environment;
  const hasBot = (await readBotToken({ BOT_TOKEN: undefined, BOT_TOKEN_SECRET })) !== undefined;
  const publicUrl = frontDoor === 'none' ? undefined : publicUrlOf(place);
  return {
    baseUrlOf: publicUrl === undefined ? byFunction(name, urls) : () => publicUrl,
    directUrls: frontDoor === 'cloudfront' ? [...urls.values()] : [],
    ownAddress: () => readOwnAddress(send),
    putImage: createMediaStore(() => aws.bucket.client(), aws.bucket.name).put,
    newMediaToken: () => randomBytes(16).toString('hex'),
    readWebhook: () => readWebhook(place),
    skipped: {
      ...(await skippedModelSteps(place)),
      ...(stream ? {} : { 'streamed chat': 'costs money. Add --stream' }),
      ...(frontDoor === 'cloudfront'
        ? {}
        : { 'direct access': `with frontDoor ${frontDoor} there is nothing to bypass` }),
      ...(hasBot ? {} : { bot: 'no bot token is stored' }),
    },
    clock: steady.clock,
    send,
    timeoutMs: REQUEST_MS,
  };
};

const readWebhook = async (place: Place): Promise<{ readonly isWell: boolean; readonly detail: string }> => {
  const finding = await checkWebhook(place);
  return { isWell: finding?.status !== 'failure', detail: finding?.detail ?? 'no bot token' };
};

const functionUrls = async (name: string): Promise<ReadonlyMap<string, string>> => {
  const outputs = await readOutputs(`${prefixOf(name)}-api`, environmentOf(name).region);
  const found = functionNames.map((each) => [each, outputs.get(`${each}Url`)?.replace(/\/+$/, '')] as const);
  return new Map(found.flatMap(([each, url]) => (url ? [[each, url]] : [])));
};

const publicUrlOf = ({ environment: { PUBLIC_URL } }: Place): string => {
  if (PUBLIC_URL) return PUBLIC_URL;
  throw failed(`The public URL is unknown. Deploy the front door, or set publicUrl in ${CONFIG_FILE}.`);
};

/** Without a front door each function has its own URL. A Web Function takes large bodies, if there is one. */
const byFunction =
  (name: string, urls: ReadonlyMap<string, string>): CheckTarget['baseUrlOf'] =>
  (each: HttpFunction, isLarge = false) => {
    const url = (isLarge && urls.get('inference')) || urls.get(hostOf(environmentOf(name), each));
    if (url) return url;
    throw failed(`The stack ${prefixOf(name)}-api has no output ${each}Url. Deploy this version of the stack.`);
  };

/** Before the first provider key is stored, no model can be priced. */
const skippedModelSteps = async (place: Place): Promise<CheckTarget['skipped']> => {
  const { names, missing } = await providerKeyState(place);
  if (missing.length < names.length) return {};
  const steps: readonly StepName[] = [...stepsOfModel, 'streamed chat'];
  return Object.fromEntries(steps.map((step) => [step, 'no provider key is stored']));
};

const readOwnAddress = async (send: typeof fetch): Promise<string | undefined> => {
  try {
    const response = await send(ADDRESS_URL, { signal: AbortSignal.timeout(ADDRESS_MS) });
    const text = (await response.text()).trim();
    return isIP(text) === 0 ? undefined : text;
  } catch {
    return undefined;
  }
};
