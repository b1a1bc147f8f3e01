import { expect, test } from 'vitest';
import { toJavaScriptFetch, toJavaScriptSdk } from '../../../reference/samples/javascript.ts';
import type { SampleRequest } from '../../../reference/samples/sample-request.ts';

const request: SampleRequest = {
  method: 'POST',
  target: '/v1/x',
  ids: [],
  credential: 'bearer',
  body: { kind: 'json', value: { model: 'a' } },
  accepts: 'application/json',
};

test('REF-5 a module loads only the functions that it uses', () => {
  const call = { sdk: 'openai', method: 'audio.speech.create' } as const;
  expect(
    toJavaScriptSdk({ ...request, accepts: 'audio/mpeg' }, call)
      .split('\n')
      .slice(0, 3),
  ).toEqual(['// npm install openai', "import { writeFile } from 'node:fs/promises';", "import OpenAI from 'openai';"]);
  expect(toJavaScriptFetch({ ...request, method: 'GET', credential: 'none', body: undefined })).toBe(
    `const response = await fetch(\`\${process.env.GATEWAY_URL}/v1/x\`);
if (!response.ok) throw new Error(await response.text());
console.log(await response.json());
`,
  );
});

test('REF-5 a signed request signs the text that it sends', () => {
  const source = toJavaScriptFetch({ ...request, credential: 'signature' });
  expect(source).toContain("import { createHmac } from 'node:crypto';");
  expect(source).toContain("const body = JSON.stringify({ model: 'a' });");
  expect(source).toMatch(/update\(`\$\{t\}\.\$\{body\}`\)[\s\S]*body: body,/);
});

test('REF-5 a file of a form is a stream, and the id of a path is the first argument of OpenAI', () => {
  const call = { sdk: 'openai', method: 'images.edit', shown: 'response.id' } as const;
  const source = toJavaScriptSdk({ ...request, ids: ['one'], body: { kind: 'form', value: { image: 'a.png' } } }, call);
  expect(source).toContain("client.images.edit('one', { image: createReadStream('a.png') })");
});
