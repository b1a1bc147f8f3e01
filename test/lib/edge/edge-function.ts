import { createContext, runInContext } from 'node:vm';

interface Value {
  value: string;
  multiValue?: { value: string }[];
}

/** https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/functions-event-structure.html */
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
  /** What goes on, or what is answered in its place. */
  readonly result: EdgeRequest | EdgeResponse;
  /** What the function has chosen an origin by, in order. */
  readonly chosen: readonly unknown[];
}

export const REQUEST_ID = 'EXAMPLEntjQpEXAMPLE_SG5Z-EXAMPLEPmPfEXAMPLEu3EqEXAMPLE==';

interface Loaded {
  readonly call: (sent: string, nowMs: number) => string;
  readonly chosen: unknown[];
}

/** Loads an edge function as CloudFront does: a script with `handler` in it, one helper object and nothing else. */
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

/** By their code, which keeps no state between calls. */
const loaded = new Map<string, Loaded>();

export const runEdgeFunction = (
  code: string,
  nowMs: number,
  event: { readonly request: EdgeRequest; readonly response?: EdgeResponse },
): Outcome => {
  const { call, chosen } = loaded.get(code) ?? load(code);
  loaded.set(code, { call, chosen });
  const sent = JSON.stringify({ context: { requestId: REQUEST_ID }, viewer: { ip: '192.0.2.1' }, ...event });
  const result = JSON.parse(call(sent, nowMs));
  return { result, chosen: chosen.splice(0) };
};

/** As CloudFront takes a request apart, which decodes nothing. */
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

/** What of a request reaches the program behind the edge. */
export const toProgram = ({ querystring, headers }: EdgeRequest) => ({
  query: Object.entries(querystring)
    .flatMap(([name, { value, multiValue = [{ value }] }]) => multiValue.map((one) => `${name}=${one.value}`))
    .join('&'),
  headers: Object.fromEntries(Object.entries(headers).map(([name, { value }]) => [name, value])),
});
