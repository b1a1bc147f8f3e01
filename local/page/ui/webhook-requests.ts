import type { InboxState } from './wire.ts';

interface ErrorBody {
  readonly error?: { readonly message?: string };
}

/** Calls the gateway's API with the key. Throws an Error with the message of an error response. */
const call = async <Body>(path: string, apiKey: string, init: RequestInit = {}): Promise<Body> => {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const response = await fetch(path, { ...init, headers });
  const body: Body & ErrorBody = await response.json();
  if (!response.ok) throw new Error(body.error?.message ?? `The gateway returned the status ${response.status}.`);
  return body;
};

/** Returns the signing secret of the key's account (HOOK-2). */
export const fetchSecret = async (apiKey: string): Promise<string> => {
  const { secret } = await call<{ readonly secret: string }>('/api/webhooks/secret', apiKey);
  return secret;
};

interface TestResult {
  readonly delivered: boolean;
  readonly error: string | null;
  readonly duration_ms: number;
}

/** Sends a test event (HOOK-3) and returns the result in words. */
export const sendTestEvent = async (apiKey: string, url: string): Promise<string> => {
  const body = JSON.stringify({ url });
  const result = await call<TestResult>('/api/webhooks/test', apiKey, { method: 'POST', body });
  return result.delivered ? `Delivered in ${result.duration_ms} ms.` : `Not delivered: ${result.error}`;
};

export const fetchInbox = async (signal: AbortSignal): Promise<InboxState> =>
  (await fetch('/local/webhooks', { signal })).json();
