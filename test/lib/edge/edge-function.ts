import { createContext, runInContext } from 'node:vm';

interface Value {
  value: string;
  multiValue?: { value: string }[];
}

/**
 * Request of a CloudFront function event.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/functions-event-structure.html
 */
export interface EdgeRequest {
  method: string;
  uri: string;
  querystring: Record<string, Value>;
  headers: Record<string, Value>;
}

export interface EdgeResponse {
  statusCode: number;
  headers: Record<string, Value>;
  body?: string;
}

export interface Outcome {
  /** Forwarded request, or the response sent instead. */
  readonly result: EdgeRequest | EdgeResponse;
  /** Arguments with which the function selected an origin, in order. */
  readonly chosen: readonly unknown[];
}

export const REQUEST_ID = 'EXAMPLEntjQpEXAMPLE_SG5Z-EXAMPLEPmPfEXAMPLEu3EqEXAMPLE==';

interface Loaded {
  readonly call: (sent: string, nowMs: number) => string;
  readonly chosen: unknown[];
}

/**
 * Loads an edge function as CloudFront does: a script that defines `handler`, with one helper object as its only
 * import.
 */
const load = (code: string): Loaded => {
  const chosen: unknown[] = [];
  const cf = {
    selectRequestOriginById: (id: string) => void chosen.push(id),
    createRequestOriginGroup: (group: unknown) => void chosen.push(JSON.parse(JSON.stringify(group))),
  };
  const clock = { nowMs: 0 };
  const sandbox = createContext({ cf, Date: { now: () => clock.nowMs }, text: '' });
  const script = code.replace("import cf from 'cloudfront';", '');
  const handle = runInContext(`${script}\n((sent) => JSON.stringify(handler(JSON.parse(sent))));`, sandbox);
  const call = (sent: string, nowMs: number): string => {
    clock.nowMs = nowMs;
    return handle(sent);
  };
  return { call, chosen };
};

/** Loaded functions by their code. They keep no state between calls. */
const loaded = new Map<string, Loaded>();

export const runEdgeFunction = (
  code: string,
  nowMs: number,
  event: { readonly request: EdgeRequest; readonly response?: EdgeResponse; readonly viewer?: { readonly ip: string } },
): Outcome => {
  const { call, chosen } = loaded.get(code) ?? load(code);
  loaded.set(code, { call, chosen });
  const sent = JSON.stringify({ context: { requestId: REQUEST_ID }, viewer: { ip: '192.0.2.1' }, ...event });
  const result = JSON.parse(call(sent, nowMs));
  return { result, chosen: chosen.splice(0) };
};

/** Parses a request as CloudFront does, without decoding anything. */
export const toEdgeRequest = (
  method: string,
  address: string,
  headers: Readonly<Record<string, string>> = {},
): EdgeRequest => {
  const [uri = '', query = ''] = address.split('?');
  const querystring: Record<string, Value> = {};
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const [name = '', ...rest] = pair.split('=');
    const value = rest.join('=');
    const before = querystring[name];
    if (!before) querystring[name] = { value };
    else querystring[name] = { value, multiValue: [...(before.multiValue ?? [{ value: before.value }]), { value }] };
  }
  const sent = Object.entries({ host: 'd111111abcdef8.cloudfront.net', ...headers });
  return { method, uri, querystring, headers: Object.fromEntries(sent.map(([name, value]) => [name, { value }])) };
};

/** Returns what the program behind the edge receives of a request. */
export const toProgram = ({ querystring, headers }: EdgeRequest) => ({
  query: Object.entries(querystring)
    .flatMap(([name, { value, multiValue = [{ value }] }]) => multiValue.map((one) => `${name}=${one.value}`))
    .join('&'),
  headers: Object.fromEntries(Object.entries(headers).map(([name, { value }]) => [name, value])),
});
