import { catalogData } from '../../../catalog/index.ts';
import { SECRET_LENGTH_MIN } from '../../../lambdas/core/accounts/keys.ts';
import { loadCatalog } from '../../../lambdas/core/catalog/load-catalog.ts';
import { readBotToken, readProviderKeys, readTopUpKey } from '../../../lambdas/functions/wiring/secrets.ts';
import { settingsSchema } from '../../../lambdas/settings.ts';
import { openKeyDependencies } from '../../keys-at.ts';
import { isProductionHost, type Place } from '../../place.ts';
import { type Finding, failure, ok, tried, warning } from './finding.ts';

const reading = 'Check that these credentials may read the secret.';
const readingPepper = `${reading} It holds what the keys were made with.`;

/** Of secrets nothing is told but whether they are there and have their form. */
export const checkPepper = (place: Place): Promise<Finding> =>
  tried('pepper', place.isLocal ? 'Start the local gateway once: it makes one.' : readingPepper, async () => {
    const { olderPeppers } = await openKeyDependencies(place);
    return ok('pepper', olderPeppers.length === 0 ? 'is there' : `is there, and ${olderPeppers.length} older`);
  });

export const checkBotToken = (place: Place): Promise<Finding> =>
  tried('bot token', reading, async () => {
    const { BOT_TOKEN, BOT_TOKEN_SECRET } = place.environment;
    if (BOT_TOKEN && !settingsSchema.shape.BOT_TOKEN.safeParse(BOT_TOKEN).success) {
      return failure('bot token', 'BOT_TOKEN has not the form of one', 'Copy it anew, such as 123456:ABC-DEF.');
    }
    if (await readBotToken({ BOT_TOKEN, BOT_TOKEN_SECRET })) return ok('bot token', 'is there');
    if (isProductionHost(place)) return ok('bot token', 'BOT_TOKEN is not set: there is no bot');
    if (place.isLocal)
      return ok(
        'bot token',
        'BOT_TOKEN is not set here: `npm start` has one of its own, for a messenger of this machine',
      );
    return warning('bot token', 'there is none, and no bot', 'Put the token into the secret, then run `bot setup`.');
  });

export const checkTopUpKey = (place: Place): Promise<Finding> =>
  tried('top-up key', reading, async () => {
    const { TOP_UP_KEY, TOP_UP_KEY_SECRET, CREDITS } = place.environment;
    if (place.isLocal && CREDITS === 'off') return ok('top-up key', 'CREDITS is off: reports of payments are rejected');
    const key = await readTopUpKey({ TOP_UP_KEY, TOP_UP_KEY_SECRET });
    if (!key && isProductionHost(place))
      return failure('top-up key', 'TOP_UP_KEY is not set', 'Set it, or set CREDITS=off.');
    if (!key && place.isLocal)
      return ok('top-up key', 'TOP_UP_KEY is not set here: `npm start` has one of its own, in the data folder');
    if (!key) return warning('top-up key', 'there is none', 'Set TOP_UP_KEY, or nobody can report payments.');
    if (key.length >= SECRET_LENGTH_MIN) return ok('top-up key', 'is there');
    return failure('top-up key', `is shorter than ${SECRET_LENGTH_MIN} letters`, 'Draw a longer one.');
  });

export const checkProviderKeys = (place: Place): Promise<Finding> =>
  tried('provider keys', reading, async () => {
    const { environment } = place;
    const { PROVIDER_KEYS_SECRET } = environment;
    const values = await readProviderKeys({ PROVIDER_KEYS_SECRET }, environment);
    const names = neededKeys(environment);
    const missing = names.filter((name) => !values[name]);
    const detail = `${names.length - missing.length} of ${names.length}${missing.length > 0 ? `; missing: ${missing.join(', ')}` : ''}`;
    if (missing.length === 0) return ok('provider keys', detail);
    const isHost = isProductionHost(place);
    if (place.isLocal && !isHost) return ok('provider keys', `${detail}: \`npm start\` simulates these vendors`);
    const advice = `${isHost ? 'Set those that you have' : 'Put them into the secret'}: the models of a vendor without a key answer 503.`;
    return missing.length === names.length
      ? failure('provider keys', detail, advice)
      : warning('provider keys', detail, advice);
  });

/** Of the vendors that models are served of here. */
const neededKeys = ({ MARKUP, CATALOGS }: Place['environment']): readonly string[] => {
  const companies = CATALOGS ? CATALOGS.split(',') : undefined;
  const { entries, providers } = loadCatalog(catalogData, { markup: MARKUP || '1', companies });
  const upstreams = entries.flatMap((model) => (model.enabled ? model.upstreams : []));
  const needed = new Set(upstreams.flatMap(({ enabled, provider }) => (enabled ? [provider] : [])));
  return providers.filter(({ enabled, id }) => enabled && needed.has(id)).map(({ credential }) => credential.variable);
};
