import type { IncomingHttpHeaders } from 'node:http';

export function hasBearer(headers: IncomingHttpHeaders): boolean {
  return /^Bearer \S+$/.test(headers.authorization ?? '');
}

export function openaiHeaders(requestId: string): Readonly<Record<string, string>> {
  return {
    'x-request-id': requestId,
    'openai-organization': 'org-simulated',
    'openai-processing-ms': '12',
    'openai-version': '2020-10-01',
  };
}
