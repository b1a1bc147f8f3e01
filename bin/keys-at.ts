import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { KeyDependencies } from '../lambdas/core/accounts/keys.ts';
import { type Peppers, parsePeppers } from '../lambdas/core/accounts/keys.ts';
import { readPeppers } from '../lambdas/functions/wiring/secrets.ts';
import { failed, whyOf } from './exit.ts';
import { localSecretPath, type Place } from './place.ts';

/**
 * Reads the peppers for new and existing API keys. Only this function reads them, so that only commands that create
 * keys, and `doctor`, have them.
 */
export const openKeyDependencies = async (place: Place): Promise<KeyDependencies & Peppers> => ({
  ...(await peppersAt(place)),
  newKeyBytes: () => randomBytes(32),
});

const peppersAt = async (place: Place): Promise<Peppers> => {
  const { KEY_PEPPER, KEY_PEPPER_SECRET } = place.environment;
  // An embedded gateway uses only the pepper in its data folder.
  const isEmbedded = place.stores.aws === undefined;
  if (!isEmbedded && (KEY_PEPPER || KEY_PEPPER_SECRET)) {
    return readPeppers({ KEY_PEPPER, KEY_PEPPER_SECRET }).catch(refuse);
  }
  const path = localSecretPath(place, 'pepper');
  if (!place.isLocal || !existsSync(path)) {
    throw failed(
      'KEY_PEPPER: not set. Set KEY_PEPPER or KEY_PEPPER_SECRET, choose an environment with --env, or start the local gateway once.',
    );
  }
  try {
    return parsePeppers(readFileSync(path, 'utf8'));
  } catch (error) {
    return refuse(error);
  }
};

const refuse = (error: unknown): never => {
  throw failed(`The pepper of the API keys cannot be read: ${whyOf(error)}`, error);
};
