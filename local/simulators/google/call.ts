import type { IncomingHttpHeaders } from 'node:http';
import type { WireRequest } from '../wire.ts';

export type Call = {
  readonly version: string;
  /** Model without `models/`. Empty for the list of models. */
  readonly model: string;
  /** Method after the colon. Empty for routes of models. */
  readonly method: string;
  /** Framing of the response. */
  readonly framing: 'plain' | 'sse' | 'array';
  readonly apiKey?: string;
};

/** Reads the call from the URL and headers of a request. */
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
