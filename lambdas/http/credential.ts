import type { Credential } from '../routes.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** The key as the route's group of endpoints sends it; undefined when there is none, or another scheme (AUTH-1). */
export const credentialOf = (kind: Credential, headers: Headers): string | undefined => {
  if (kind === 'none') return undefined;
  const [, key] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  return key;
};
