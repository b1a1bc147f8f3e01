import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { KeyDependencies } from '../lambdas/core/accounts/keys.ts';
import { type Peppers, parsePeppers } from '../lambdas/core/accounts/keys.ts';
import { readPeppers } from '../lambdas/functions/wiring/secrets.ts';
import { failed, whyOf } from './exit.ts';
import { localSecretPath, type Place } from './place.ts';

/**
 * What keys are made with, and what those that are there may have been made with. The peppers are read here and nowhere else, so that
 * only commands that make keys ever have them.
 */
export const openKeyDependencies = async (place: Place): Promise<KeyDependencies & Peppers> => ({
  ...(await peppersAt(place)),
  newKeyBytes: () => randomBytes(32),
});

const peppersAt = async (place: Place): Promise<Peppers> => {
  const { KEY_PEPPER, KEY_PEPPER_SECRET } = place.environment;
  // The local gateway uses the pepper in its data folder and no other one.
  const isEmbedded = place.stores.aws === undefined;
  if (!isEmbedded && (KEY_PEPPER || KEY_PEPPER_SECRET)) {
    return readPeppers({ KEY_PEPPER, KEY_PEPPER_SECRET }).catch(refuse);
  }
  const path = localSecretPath(place, 'pepper');
  if (!place.isLocal || !existsSync(path)) {
    throw failed(
      'The pepper of the keys is not known: set KEY_PEPPER or KEY_PEPPER_SECRET, name an environment by --env, or start the local gateway once.',
    );
  }
  try {
    return parsePeppers(readFileSync(path, 'utf8'));
  } catch (error) {
    return refuse(error);
  }
};

const refuse = (error: unknown): never => {
  throw failed(`The pepper of the keys cannot be read: ${whyOf(error)}`, error);
};
