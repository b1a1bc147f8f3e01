import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { toCurl } from '../../../reference/samples/curl.ts';
import type { SampleRequest } from '../../../reference/samples/sample-request.ts';

const request: SampleRequest = {
  method: 'POST',
  target: '/v1/x',
  ids: [],
  credential: 'bearer',
  body: undefined,
  accepts: 'application/json',
};

test.each<[string, Partial<SampleRequest>, string]>([
  ['a read', { method: 'GET' }, 'curl "$GATEWAY_URL/v1/x" \\\n  -H "authorization: Bearer $GATEWAY_KEY"'],
  ['a deletion', { method: 'DELETE', credential: 'none' }, 'curl -X DELETE "$GATEWAY_URL/v1/x"'],
  [
    'a file',
    { method: 'GET', credential: 'none', accepts: 'video/mp4' },
    'curl "$GATEWAY_URL/v1/x" \\\n  -o video.mp4',
  ],
  [
    'a stream of messages',
    { credential: 'messages', accepts: 'text/event-stream', body: { kind: 'json', value: { a: 1 } } },
    'curl -N "$GATEWAY_URL/v1/x" \\\n  -H "x-api-key: $GATEWAY_KEY" \\\n  -H "anthropic-version: 2023-06-01" \\\n  -H \'content-type: application/json\' \\\n  -d \'{"a": 1}\'',
  ],
  [
    'a form with a file and a text that starts with @',
    { credential: 'none', body: { kind: 'form', value: { image: ['a.png', 'b.png'], user: '@me', n: '1' } } },
    "curl \"$GATEWAY_URL/v1/x\" \\\n  -F 'image=@a.png' \\\n  -F 'image=@b.png' \\\n  --form-string 'user=@me' \\\n  -F 'n=1'",
  ],
])('REF-5 the command of %s', (_, changed, expected) => {
  expect(toCurl({ ...request, ...changed })).toBe(expected);
});

test('REF-5 bash passes a body with quotes, a dollar sign and a line break to curl unchanged', () => {
  const value = { text: 'it\'s "$HOME" `x`\n\\' };
  for (const credential of ['bearer', 'signature'] as const) {
    const source = toCurl({ ...request, credential, body: { kind: 'json', value } });
    const script = `curl() { printf '%s' "\${@: -1}"; }; openssl() { echo a; }\n${source}`;
    const { stdout } = spawnSync('/bin/bash', ['-c', script], { encoding: 'utf8', env: { PATH: process.env.PATH } });
    expect(JSON.parse(stdout)).toEqual(value);
  }
});
