import type { IncomingHttpHeaders } from 'node:http';
import { anthropicError } from './error.ts';

/** Source: https://platform.claude.com/docs/en/api/versioning */
export type Version = '2023-06-01' | '2026-10-21';

export function hasApiKey(headers: IncomingHttpHeaders): boolean {
  return apiKeyOf(headers) !== '';
}

/**
 * Reads the key from `x-api-key` or from a bearer token:
 * https://platform.claude.com/docs/en/manage-claude/authentication
 */
export function apiKeyOf(headers: IncomingHttpHeaders): string {
  const key = headers['x-api-key'];
  if (typeof key === 'string') return key.trim();
  return /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
}

/**
 * Returns the requested version, or throws a 400. Source of its messages:
 * https://github.com/decolua/9router/issues/2357
 */
export function versionOf(headers: IncomingHttpHeaders): Version {
  const version = headers['anthropic-version'];
  if (version === '2023-06-01' || version === '2026-10-21') return version;
  if (version === undefined || version === '') throw anthropicError(400, 'anthropic-version: header is required');
  throw anthropicError(400, `anthropic-version: "${String(version)}" is not a valid version`);
}

export function anthropicHeaders(requestId: string): Readonly<Record<string, string>> {
  const reset = new Date(Math.ceil(Date.now() / 60_000) * 60_000).toISOString().replace('.000Z', 'Z');
  return {
    'request-id': requestId,
    'anthropic-organization-id': '00000000-0000-4000-8000-000000000000',
    'anthropic-ratelimit-requests-limit': '4000',
    'anthropic-ratelimit-requests-remaining': '3999',
    'anthropic-ratelimit-requests-reset': reset,
  };
}
