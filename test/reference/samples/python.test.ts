import { expect, test } from 'vitest';
import { toPythonRequests, toPythonSdk } from '../../../reference/samples/python.ts';
import type { SampleRequest } from '../../../reference/samples/sample-request.ts';

const request: SampleRequest = {
  method: 'PATCH',
  target: '/v1/x',
  ids: [],
  credential: 'bearer',
  body: { kind: 'json', value: { limit: null } },
  accepts: 'application/json',
};

test('REF-5 a program without an SDK sends JSON with requests and raises an error', () => {
  expect(toPythonRequests(request)).toBe(`# pip install requests
import os

import requests

response = requests.patch(
    os.environ["GATEWAY_URL"] + "/v1/x",
    headers={"authorization": f"Bearer {os.environ['GATEWAY_KEY']}"},
    json={"limit": None},
)
response.raise_for_status()
print(response.json())
`);
});

test('REF-5 a method and the members of config have snake_case, and other names do not change', () => {
  const value = { contents: [{ parts: [{ inlineData: 1 }] }], generationConfig: { maxOutputTokens: 5 } };
  const call = { sdk: 'google', method: 'models.generateContent', shown: 'response.text' } as const;
  expect(toPythonSdk({ ...request, ids: ['gemini'], body: { kind: 'json', value } }, call)).toContain(
    `client.models.generate_content(
    model="gemini",
    contents=[{"parts": [{"inlineData": 1}]}],
    config={"max_output_tokens": 5},
)`,
  );
});

test('REF-5 a stream prints the text of the events that have one', () => {
  const call = { sdk: 'anthropic', method: 'messages.create', streamed: { when: 'event.a', text: 'event.b' } } as const;
  expect(toPythonSdk({ ...request, accepts: 'text/event-stream' }, call)).toMatch(
    /for event in stream:\n {4}if event\.a:\n {8}print\(event\.b, end="", flush=True\)\n$/,
  );
});
