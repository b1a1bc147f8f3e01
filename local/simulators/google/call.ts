import type { IncomingHttpHeaders } from 'node:http';
import type { WireRequest } from '../wire.ts';

export type Call = {
  readonly version: string;
  /** Without `models/`; empty on the list of models. */
  readonly model: string;
  /** What follows the colon; empty on models themselves. */
  readonly method: string;
  /** How the answer is framed. */
  readonly framing: 'plain' | 'sse' | 'array';
  readonly apiKey?: string;
};

/** What a request's address and headers say. */
export function callOf({ path, query, headers }: Pick<WireRequest, 'path' | 'query' | 'headers'>): Call {
  const [, version = '', , resource = ''] = path.split('/');
  const [model = '', method = ''] = resource.split(':');
  const streamed = query.get('alt') === 'sse' ? 'sse' : 'array';
  const framing = method === 'streamGenerateContent' ? streamed : 'plain';
  return { version, model, method, framing, apiKey: apiKeyOf(headers, query) };
}

export function hasApiKey(headers: IncomingHttpHeaders, query: URLSearchParams): boolean {
  return apiKeyOf(headers, query) !== undefined;
}

function apiKeyOf(headers: IncomingHttpHeaders, query: URLSearchParams): string | undefined {
  return [headers['x-goog-api-key'], query.get('key')].flat().find((key) => key != null && key !== '') ?? undefined;
}
