import { catalogData } from '../../../catalog/index.ts';
import { SECRET_LENGTH_MIN } from '../../../lambdas/core/accounts/keys.ts';
import { loadCatalog } from '../../../lambdas/core/catalog/load-catalog.ts';
import { readBotToken, readProviderKeys, readTopUpKey } from '../../../lambdas/functions/wiring/secrets.ts';
import { parseCredentials } from '../../../lambdas/providers/credentials.ts';
import { settingsSchema } from '../../../lambdas/settings.ts';
import { openKeyDependencies } from '../../keys-at.ts';
import { isProductionHost, type Place } from '../../place.ts';
import { type Finding, failure, ok, tried, warning } from './finding.ts';

const reading = 'Check that your credentials have permission to read the secret.';
const readingPepper = `${reading} It holds the pepper of every API key.`;

/** Checks the pepper. The checks of secrets report presence and form, never a value. */
export const checkPepper = (place: Place): Promise<Finding> =>
  tried('pepper', place.isLocal ? 'Start the local gateway once. It creates the pepper.' : readingPepper, async () => {
    const { olderPeppers } = await openKeyDependencies(place);
    return ok('pepper', olderPeppers.length === 0 ? 'present' : `present, and ${olderPeppers.length} older`);
  });

export const checkBotToken = (place: Place): Promise<Finding> =>
  tried('bot token', reading, async () => {
    const { BOT_TOKEN, BOT_TOKEN_SECRET } = place.environment;
    if (BOT_TOKEN && !settingsSchema.shape.BOT_TOKEN.safeParse(BOT_TOKEN).success) {
      return failure('bot token', 'BOT_TOKEN is not a valid bot token', 'Copy it again. It looks like 123456:ABC-DEF.');
    }
    if (await readBotToken({ BOT_TOKEN, BOT_TOKEN_SECRET })) return ok('bot token', 'present');
    if (isProductionHost(place)) return ok('bot token', 'BOT_TOKEN is not set: the bot is off');
    if (place.isLocal)
      return ok('bot token', 'BOT_TOKEN is not set: `npm start` uses its own, for the messenger on the local page');
    return warning('bot token', 'not set: the bot is off', 'Store the token in the secret, then run `bot setup`.');
  });

export const checkTopUpKey = (place: Place): Promise<Finding> =>
  tried('top-up key', reading, async () => {
    const { TOP_UP_KEY, TOP_UP_KEY_SECRET, CREDITS } = place.environment;
    if (place.isLocal && CREDITS === 'off') return ok('top-up key', 'CREDITS is off: payment reports are rejected');
    const key = await readTopUpKey({ TOP_UP_KEY, TOP_UP_KEY_SECRET });
    if (!key && isProductionHost(place))
      return failure('top-up key', 'TOP_UP_KEY is not set', 'Set it, or set CREDITS=off.');
    if (!key && place.isLocal)
      return ok('top-up key', 'TOP_UP_KEY is not set: `npm start` uses its own, in the data folder');
    if (!key) return warning('top-up key', 'not set', 'Set TOP_UP_KEY. Without it every payment report is rejected.');
    if (key.length >= SECRET_LENGTH_MIN) return ok('top-up key', 'present');
    return failure('top-up key', `shorter than ${SECRET_LENGTH_MIN} characters`, 'Generate a longer one.');
  });

export const checkProviderKeys = (place: Place): Promise<Finding> =>
  tried('provider keys', reading, async () => {
    const { names, missing, several, invalid } = await providerKeyState(place);
    if (invalid.length > 0)
      return failure('provider keys', invalid.join(' '), 'Correct the list. Functions keep the old keys.');
    const lists = several.length > 0 ? `; several credentials: ${several.join(', ')}` : '';
    const absent = missing.length > 0 ? `; missing: ${missing.join(', ')}` : '';
    const detail = `${names.length - missing.length} of ${names.length}${lists}${absent}`;
    if (missing.length === 0) return ok('provider keys', detail);
    const isHost = isProductionHost(place);
    if (place.isLocal && !isHost) return ok('provider keys', `${detail}: \`npm start\` simulates these providers`);
    const advice = `${isHost ? 'Set the keys that you have' : 'Store the keys in the secret'}. Models of a provider without a key return 503.`;
    return missing.length === names.length
      ? failure('provider keys', detail, advice)
      : warning('provider keys', detail, advice);
  });

/**
 * Returns the variables of all needed provider keys, of those that are not set, of those with a list (with the number of
 * its credentials), and the problem of each malformed one. No value is returned.
 */
export const providerKeyState = async ({ environment }: Place) => {
  const { PROVIDER_KEYS_SECRET } = environment;
  const values = await readProviderKeys({ PROVIDER_KEYS_SECRET }, environment);
  const names = neededKeys(environment);
  const read = names.map((name) => readCount(name, values[name]));
  return {
    names,
    missing: names.filter((name) => !values[name]),
    several: read.flatMap(({ name, count }) => (count > 1 ? [`${name} (${count})`] : [])),
    invalid: read.flatMap(({ problem }) => problem ?? []),
  };
};

const readCount = (name: string, value: string | undefined) => {
  try {
    return { name, count: parseCredentials(name, value).length };
  } catch (error) {
    return { name, count: 0, problem: error instanceof Error ? error.message : String(error) };
  }
};

/** Returns the variables with the keys of all providers that serve a model here. */
const neededKeys = ({ MARKUP, CATALOGS }: Place['environment']): readonly string[] => {
  const companies = CATALOGS ? CATALOGS.split(',') : undefined;
  const { entries, providers } = loadCatalog(catalogData, { markup: MARKUP || '1', companies });
  const upstreams = entries.flatMap((model) => (model.enabled ? model.upstreams : []));
  const needed = new Set(upstreams.flatMap(({ enabled, provider }) => (enabled ? [provider] : [])));
  return providers.filter(({ enabled, id }) => enabled && needed.has(id)).map(({ credential }) => credential.variable);
};
