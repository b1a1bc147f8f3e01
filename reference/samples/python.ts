import type { JsonObject } from '../../lambdas/core/json.ts';
import type { Credential } from '../../lambdas/routes.ts';
import { Expression, type Literal, printLiteral } from './literals.ts';
import { fileFor, isFileName, type SampleRequest } from './sample-request.ts';
import { type SdkCall, sdkArguments, shownIn } from './sdk-calls.ts';

const EVENTS = 'text/event-stream';
const KEY = 'os.environ["GATEWAY_KEY"]';
const URL = 'os.environ["GATEWAY_URL"]';

const clients: Record<SdkCall['sdk'], readonly [load: string, client: string, distribution: string]> = {
  openai: ['from openai import OpenAI', `OpenAI(base_url=${URL} + "/v1", api_key=${KEY})`, 'openai'],
  anthropic: ['from anthropic import Anthropic', `Anthropic(base_url=${URL}, api_key=${KEY})`, 'anthropic'],
  google: [
    'from google import genai',
    `genai.Client(api_key=${KEY}, http_options={"base_url": ${URL}})`,
    'google-genai',
  ],
};

/** First line of a program, which names the package that it imports. */
const install = (distribution: string): string => `# pip install ${distribution}\n`;

/** Prints a program that calls the route with its SDK. */
export const toPythonSdk = (request: SampleRequest, call: SdkCall): string => {
  const [load, client, distribution] = clients[call.sdk];
  const named = Object.entries(sdkArguments(request, call)).flatMap(([name, value]) =>
    value === undefined ? [] : [[`${snakeCase(name)}=`, snakeConfig(name, withFiles(value))] as const],
  );
  const positional = request.ids.length > 0 && call.sdk === 'openai' ? [['', request.ids[0] ?? ''] as const] : [];
  const variable = request.accepts === EVENTS ? 'stream' : 'response';
  const called = printCall(`${variable} = client.${snakeCase(call.method)}`, [...positional, ...named]);
  return `${install(distribution)}import os\n\n${load}\n\nclient = ${client}\n${called}\n${sdkResult(request, call)}\n`;
};

const sdkResult = ({ accepts }: SampleRequest, { shown, streamed }: SdkCall): string => {
  if (accepts === EVENTS && streamed) {
    const show = `print(${shownIn(streamed.text, 'python')}, end="", flush=True)`;
    const line = streamed.when ? `if ${shownIn(streamed.when, 'python')}:\n        ${show}` : show;
    return `for event in stream:\n    ${line}`;
  }
  if (shown) return `print(${shownIn(shown, 'python')})`;
  return `response.write_to_file("${fileFor(accepts)}")`;
};

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Python names the members of Google's `config` in snake_case. */
const snakeConfig = (name: string, value: Literal): Literal => {
  if (name !== 'config' || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([member, each]) => [snakeCase(member), each]));
};

const opened = (name: string): Expression => new Expression(`open(${JSON.stringify(name)}, "rb")`);

const withFiles = (value: Literal): Literal => {
  if (typeof value === 'string') return isFileName(value) ? opened(value) : value;
  return Array.isArray(value) ? value.map(withFiles) : value;
};

/** Prints a call on one line, or with one argument per line. */
const printCall = (name: string, named: readonly (readonly [string, Literal])[]): string => {
  const short = named.map(([prefix, value]) => `${prefix}${printLiteral(value, 'python')}`).join(', ');
  if (!short.includes('\n') && `${name}(${short})`.length <= 88) return `${name}(${short})`;
  const lines = named.map(
    ([prefix, value]) => `    ${prefix}${printLiteral(value, 'python', 1, prefix.length + 5)},\n`,
  );
  return `${name}(\n${lines.join('')})`;
};

const headers: Record<Credential, Readonly<Record<string, Literal>>> = {
  none: {},
  bearer: { authorization: new Expression(`f"Bearer {os.environ['GATEWAY_KEY']}"`) },
  any: { authorization: new Expression(`f"Bearer {os.environ['GATEWAY_KEY']}"`) },
  messages: { 'x-api-key': new Expression(KEY), 'anthropic-version': '2023-06-01' },
  generate_content: { 'x-goog-api-key': new Expression(KEY) },
  init_data: { authorization: new Expression(`f"tma {os.environ['INIT_DATA']}"`) },
  bot: { 'x-telegram-bot-api-secret-token': new Expression('os.environ["BOT_SECRET"]') },
  signature: {
    'content-type': 'application/json',
    'x-service-signature': new Expression('f"t={t},v1={v1}"'),
  },
};

/** Prints a program that calls the route with the package `requests`. */
export const toPythonRequests = ({ method, target, credential, body, accepts }: SampleRequest): string => {
  const isSigned = credential === 'signature';
  const sent = isSigned ? [['data=', new Expression('body')] as const] : bodyArguments(body);
  const call = printCall(`response = requests.${method.toLowerCase()}`, [
    ['', new Expression(`${URL} + ${JSON.stringify(target)}`)],
    ...(credential === 'none' ? [] : [['headers=', headers[credential]] as const]),
    ...sent,
  ]);
  return [
    `${install('requests')}${isSigned ? 'import hashlib\nimport hmac\nimport json\nimport os\nimport time' : 'import os'}\n\nimport requests\n`,
    ...(isSigned && body ? signature(body.value) : []),
    call,
    'response.raise_for_status()',
    resultOf(accepts),
    '',
  ].join('\n');
};

const bodyArguments = (body: SampleRequest['body']): readonly (readonly [string, Literal])[] =>
  body ? [['json=', body.value]] : [];

const signature = (value: JsonObject): readonly string[] => [
  `body = json.dumps(${printLiteral(value, 'python', 0, 18)})`,
  't = int(time.time())',
  'key = os.environ["TOP_UP_KEY"].encode()',
  'v1 = hmac.new(key, f"{t}.{body}".encode(), hashlib.sha256).hexdigest()',
];

const resultOf = (accepts: string): string => {
  const file = fileFor(accepts);
  if (file !== undefined) return `with open("${file}", "wb") as file:\n    file.write(response.content)`;
  return accepts === 'application/json' ? 'print(response.json())' : 'print(response.text)';
};
