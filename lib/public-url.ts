import type { Environment } from './environments.ts';

/** Where functions find the address that clients use when it is not known before the front door stands. */
export const publicUrlParameter = (prefix: string): string => `/${prefix}/public-url`;

/** Without a slash at its end; undefined where only AWS knows it. */
export const publicUrlOf = ({ publicUrl, domain }: Environment): string | undefined =>
  publicUrl?.replace(/\/+$/, '') ?? (domain && `https://${domain.name}`);
