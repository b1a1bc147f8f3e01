import type { Credential } from '../../lambdas/routes.ts';
import { Expression, type Literal, printLiteral } from './literals.ts';
import { fileFor, isFileName, type SampleRequest } from './sample-request.ts';
import { type SdkCall, sdkArguments, shownIn } from './sdk-calls.ts';

const EVENTS = 'text/event-stream';
/** Object of the environment in printed code. This program does not read it. */
const ENV = `${'process'}.env`;
const KEY = `${ENV}.GATEWAY_KEY`;
const URL = `${ENV}.GATEWAY_URL`;

const clients: Record<SdkCall['sdk'], readonly [load: string, client: string, distribution: string]> = {
  openai: ["import OpenAI from 'openai';", `new OpenAI({ baseURL: \`\${${URL}}/v1\`, apiKey: ${KEY} })`, 'openai'],
  anthropic: [
    "import Anthropic from '@anthropic-ai/sdk';",
    `new Anthropic({ baseURL: ${URL}, apiKey: ${KEY} })`,
    '@anthropic-ai/sdk',
  ],
  google: [
    "import { GoogleGenAI } from '@google/genai';",
    `new GoogleGenAI({ apiKey: ${KEY}, httpOptions: { baseUrl: ${URL} } })`,
    '@google/genai',
  ],
};

/** Prints a module that calls the route with its SDK. */
export const toJavaScriptSdk = (request: SampleRequest, call: SdkCall): string => {
  const [load, client, distribution] = clients[call.sdk];
  const named = sdkArguments(request, call);
  const positional = request.ids.length > 0 && call.sdk === 'openai' ? request.ids.slice(0, 1) : [];
  const variable = request.accepts === EVENTS ? 'stream' : 'response';
  const start = `const ${variable} = await client.${call.method}(`;
  const printed = [...positional, ...(Object.keys(named).length > 0 ? [withFiles(named)] : [])].map((each) =>
    printLiteral(each, 'javascript', 0, start.length),
  );
  const program = [`const client = ${client};`, `${start}${printed.join(', ')});`, resultOfSdk(request, call)].join(
    '\n',
  );
  return `// npm install ${distribution}\n${importsOf(program, load)}\n\n${program}\n`;
};

const resultOfSdk = ({ accepts }: SampleRequest, { shown, streamed }: SdkCall): string => {
  if (accepts === EVENTS && streamed) {
    const show = `process.stdout.write(${shownIn(streamed.text, 'javascript')});`;
    const line = streamed.when ? `if (${shownIn(streamed.when, 'javascript')}) ${show}` : show;
    return `for await (const event of stream) {\n  ${line}\n}`;
  }
  return shown ? `console.log(${shownIn(shown, 'javascript')});` : storeIn(accepts);
};

const storeIn = (accepts: string): string =>
  `await writeFile('${fileFor(accepts)}', Buffer.from(await response.arrayBuffer()));`;

/** Imports of the functions that a program uses, before that of its SDK. */
const importsOf = (program: string, ...sdk: readonly string[]): string =>
  [
    ...(program.includes('createHmac(') ? ["import { createHmac } from 'node:crypto';"] : []),
    ...(program.includes('createReadStream(') ? ["import { createReadStream } from 'node:fs';"] : []),
    ...(program.includes('writeFile(') ? ["import { writeFile } from 'node:fs/promises';"] : []),
    ...sdk,
  ].join('\n');

const withFiles = (value: Literal): Literal => {
  if (typeof value === 'string' && isFileName(value)) return new Expression(`createReadStream('${value}')`);
  if (Array.isArray(value)) return value.map(withFiles);
  if (typeof value !== 'object' || value === null || value instanceof Expression) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, each && withFiles(each)]));
};

const bearer = { authorization: new Expression(`\`Bearer \${${KEY}}\``) };
const headers: Record<Credential, Readonly<Record<string, Literal>>> = {
  none: {},
  bearer,
  any: bearer,
  messages: { 'x-api-key': new Expression(KEY), 'anthropic-version': '2023-06-01' },
  generate_content: { 'x-goog-api-key': new Expression(KEY) },
  init_data: { authorization: new Expression(`\`tma \${${ENV}.INIT_DATA}\``) },
  bot: { 'x-telegram-bot-api-secret-token': new Expression(`${ENV}.BOT_SECRET`) },
  signature: { 'x-service-signature': new Expression(`\`t=\${t},v1=\${v1}\``) },
};

/** Prints a module that calls the route with `fetch`. */
export const toJavaScriptFetch = ({ method, target, credential, body, accepts }: SampleRequest): string => {
  const isSigned = credential === 'signature';
  const sent = body && {
    headers: { ...headers[credential], 'content-type': 'application/json' },
    body: new Expression(isSigned ? 'body' : `JSON.stringify(${printLiteral(body.value, 'javascript', 1, 25)})`),
  };
  const init = {
    ...(method !== 'GET' && { method }),
    ...(sent ?? (credential === 'none' ? {} : { headers: headers[credential] })),
  };
  const printed = Object.keys(init).length === 0 ? '' : `, ${printLiteral(init, 'javascript', 0, 60)}`;
  const program = [
    ...(isSigned && body ? signature(printLiteral(body.value, 'javascript', 0, 30)) : []),
    `const response = await fetch(\`\${${URL}}${target}\`${printed});`,
    'if (!response.ok) throw new Error(await response.text());',
    resultOfFetch(accepts),
  ].join('\n');
  const imports = importsOf(program);
  return `${imports === '' ? '' : `${imports}\n\n`}${program}\n`;
};

const signature = (printed: string): readonly string[] => [
  `const body = JSON.stringify(${printed});`,
  'const t = Math.floor(Date.now() / 1000);',
  `const v1 = createHmac('sha256', ${ENV}.TOP_UP_KEY).update(\`\${t}.\${body}\`).digest('hex');`,
];

const resultOfFetch = (accepts: string): string => {
  if (fileFor(accepts) !== undefined) return storeIn(accepts);
  return `console.log(await response.${accepts === 'application/json' ? 'json' : 'text'}());`;
};
