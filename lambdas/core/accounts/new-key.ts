import { createHash } from 'node:crypto';
import type { NewKey } from './account-store.ts';
import { hashApiKey, labelOf, makeApiKey } from './api-key.ts';

export interface KeyPorts {
  readonly pepper: string;
  /** 32 bytes that nobody can foresee. */
  readonly newKeyBytes: () => Uint8Array;
}

export interface MadeKey {
  /** To be told to its owner once and stored nowhere. */
  readonly apiKey: string;
  readonly key: NewKey;
}

export const makeKey = ({ pepper, newKeyBytes }: KeyPorts, isShown: boolean): MadeKey => {
  const apiKey = makeApiKey(newKeyBytes());
  return { apiKey, key: toNewKey(pepper, apiKey, isShown) };
};

export const toNewKey = (pepper: string, apiKey: string, isShown: boolean): NewKey => ({
  hash: hashApiKey(pepper, apiKey),
  label: labelOf(apiKey),
  pepperId: createHash('sha256').update(pepper).digest('hex').slice(0, 8),
  isShown,
});

/** What a key may be called by in the open: sixteen hexadecimal digits that follow from its hash. */
export const keyIdOf = (hash: string): string => createHash('sha256').update(hash).digest('hex').slice(0, 16);
