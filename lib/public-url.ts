import type { Environment } from './environments.ts';

/**
 * Returns the parameter from which functions read the public URL if it is unknown before the front door is deployed.
 */
export const publicUrlParameter = (prefix: string): string => `/${prefix}/public-url`;

/** Returns the public URL without a trailing slash; undefined if only AWS knows it. */
export const publicUrlOf = ({ publicUrl, domain }: Environment): string | undefined =>
  publicUrl?.replace(/\/+$/, '') ?? (domain && `https://${domain.name}`);
