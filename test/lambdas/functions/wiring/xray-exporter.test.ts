import { createHash, createHmac } from 'node:crypto';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { createXrayExporter, xrayRegionOf } from '../../../../lambdas/functions/wiring/xray-exporter.ts';

const URL_OF_XRAY = 'https://xray.eu-central-1.amazonaws.com/v1/traces';

test.each([
  [URL_OF_XRAY, 'eu-central-1'],
  ['https://xray.us-east-1.amazonaws.com/v1/traces', 'us-east-1'],
  ['http://127.0.0.1:4318/v1/traces', undefined],
  ['https://xray.eu-central-1.amazonaws.com.attacker.example/v1/traces', undefined],
  ['https://collector.example/xray.eu-central-1.amazonaws.com', undefined],
])('OPS-19 requests to %s are signed for the region %s', (url, region) => {
  expect(xrayRegionOf(url)).toBe(region);
});

const finishedSpans = () => {
  const memory = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: memory })] });
  provider.getTracer('test').startSpan('hold').end();
  return memory.getFinishedSpans();
};

interface Sent {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const exportWith = async (status: number) => {
  const sent: Sent[] = [];
  const exporter = createXrayExporter({
    url: URL_OF_XRAY,
    region: 'eu-central-1',
    timeoutMs: 1_000,
    environment: { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'token' },
    post: async (url, { headers, body }) => {
      sent.push({ url, headers: headers as Record<string, string>, body: String(body) });
      return new Response('{}', { status });
    },
  });
  const { promise, resolve } = Promise.withResolvers<{ code: number; error?: Error }>();
  exporter.export(finishedSpans(), resolve);
  return { result: await promise, sent };
};

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** Signs as in https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
const signatureOf = ({ headers, body }: Sent, names: readonly string[]): string => {
  const at = headers['x-amz-date'] ?? '';
  const scope = `${at.slice(0, 8)}/eu-central-1/xray/aws4_request`;
  const lines = names.map((name) => `${name}:${headers[name]?.trim()}\n`).join('');
  const canonical = ['POST', '/v1/traces', '', lines, names.join(';'), hash(body)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>((previous, part) => hmac(previous, part), 'AWS4secret');
  return hmac(key, ['AWS4-HMAC-SHA256', at, scope, hash(canonical)].join('\n')).toString('hex');
};

test('OPS-19 spans for X-Ray are signed with the credentials of the role', async () => {
  const { result, sent } = await exportWith(200);
  expect(result.code).toBe(0);
  const [request] = sent;
  if (!request) throw new Error('nothing was sent');
  expect(request.url).toBe(URL_OF_XRAY);
  expect(JSON.parse(request.body).resourceSpans[0].scopeSpans[0].spans[0].name).toBe('hold');
  const [, names = '', signature] =
    /SignedHeaders=([^,]+), Signature=([0-9a-f]+)/.exec(request.headers.authorization ?? '') ?? [];
  expect(names.split(';')).toEqual(expect.arrayContaining(['host', 'x-amz-date', 'x-amz-security-token']));
  expect(signature).toBe(signatureOf(request, names.split(';')));
  expect(request.body).not.toContain('secret');
});

test('OPS-19 a rejected batch for X-Ray fails with the status alone', async () => {
  const { result } = await exportWith(403);
  expect(result).toMatchObject({ code: 1, error: { code: 403 } });
});
