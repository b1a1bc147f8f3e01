import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { KeyPorts } from '../lambdas/core/accounts/new-key.ts';
import { readPepper } from '../lambdas/functions/wiring/secrets.ts';
import { failed, whyOf } from './exit.ts';
import { localSecretPath, type Place } from './place.ts';

/** What keys are made with. The pepper is read here and nowhere else, so that only commands that make keys ever have it. */
export const openKeyPorts = async (place: Place): Promise<KeyPorts> => ({
  pepper: await pepperAt(place),
  newKeyBytes: () => randomBytes(32),
});

const pepperAt = async (place: Place): Promise<string> => {
  const { KEY_PEPPER, KEY_PEPPER_SECRET } = place.environment;
  if (KEY_PEPPER || KEY_PEPPER_SECRET) {
    return readPepper({ KEY_PEPPER, KEY_PEPPER_SECRET }).catch((error: unknown) => {
      throw failed(`The pepper of the keys cannot be read: ${whyOf(error)}`, error);
    });
  }
  const path = localSecretPath(place, 'pepper');
  if (!place.isLocal || !existsSync(path)) {
    throw failed(
      'The pepper of the keys is not known: set KEY_PEPPER or KEY_PEPPER_SECRET, name an environment by --env, or start the local gateway once.',
    );
  }
  return readFileSync(path, 'utf8').trim();
};
