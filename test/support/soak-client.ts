import type { SoakCall } from './soak-load.ts';

/** Result of one call. */
export interface SoakAnswer {
  readonly call: SoakCall;
  readonly accountId: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** `good`, `left`, `event <code>`, `<status> <code>`, or `broken: <cause>`. */
  readonly outcome: string;
  /** HTTP status. 0 without a response. */
  readonly status: number;
  readonly requestId: string | undefined;
  readonly replayed: boolean;
  readonly text: string;
}

export interface SoakCustomer {
  readonly accountId: string;
  readonly apiKey: string;
}

/** Sends a call. Never rejects. */
export async function ask(url: string, { accountId, apiKey }: SoakCustomer, call: SoakCall): Promise<SoakAnswer> {
  const startedAt = performance.now();
  const leaving = new AbortController();
  const timer = call.leavesAfterMs === undefined ? undefined : setTimeout(() => leaving.abort(), call.leavesAfterMs);
  let response: Response | undefined;
  let text = '';
  let outcome: string;
  try {
    response = await fetch(`${url}${call.path}`, {
      method: 'POST',
      headers: {
        [call.keyHeader]: call.keyHeader === 'authorization' ? `Bearer ${apiKey}` : apiKey,
        'content-type': 'application/json',
        ...call.headers,
      },
      body: JSON.stringify(call.body),
      signal: leaving.signal,
    });
    text = await response.text();
    outcome = outcomeOf(response, text);
  } catch (error) {
    outcome = leaving.signal.aborted
      ? 'left'
      : `broken: ${error instanceof Error ? (error.cause ?? error.message) : error}`;
  } finally {
    clearTimeout(timer);
  }
  return {
    call,
    accountId,
    startedAt,
    endedAt: performance.now(),
    outcome,
    status: response?.status ?? 0,
    requestId: response?.headers.get('x-request-id') ?? undefined,
    replayed: response?.headers.get('idempotent-replayed') === 'true',
    text,
  };
}

function outcomeOf({ status, headers }: Response, text: string): string {
  if (status !== 200) return `${status} ${codeOf(text)}`;
  if (!headers.get('content-type')?.startsWith('text/event-stream')) return 'good';
  return text.endsWith('data: [DONE]\n\n') ? 'good' : `event ${codeOf(text)}`;
}

const codeOf = (text: string): string => /"(?:code|reason)": ?"([a-z_]+)"/.exec(text)?.[1] ?? 'without a code';
