import { createHmac } from 'node:crypto';
import type { JsonValue } from '../../lambdas/core/json.ts';
import { updateSecretOf } from '../../lambdas/core/signature.ts';
import { type LocalMessenger, startMessenger } from '../../local/simulators/messenger/messenger.ts';
import { pictureOf } from '../../local/simulators/picture.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { type GatewayOptions, startGateway, type TestGateway } from '../support/gateway.ts';
import type { ReferenceOperation, ReferenceRow } from '../support/reference-document.ts';

const BOT_TOKEN = '7001:reference-examples';
const TOP_UP_KEY = 'top-up-key-of-the-tests';
/** User of the bot in the example update. */
const user = { id: 7_001, firstName: 'Ada', language: 'en' } as const;

/** A client that knows the API only from the OpenAPI document, and has a credential for every scheme in it. */
export interface ReferenceCustomer {
  readonly gateway: TestGateway;
  /** Returns the environment variables of the code samples. */
  environment(): Readonly<Record<string, string>>;
  /** Sends an operation. Path values and headers are the examples of the document, unless they are given. */
  send(row: ReferenceRow, sent?: Sent): Promise<Response>;
  stop(): Promise<void>;
}

export interface Sent {
  readonly contentType?: string;
  readonly value?: Readonly<Record<string, JsonValue>>;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const startReferenceCustomer = async (
  options: Pick<GatewayOptions, 'now' | 'environment' | 'pages'> = {},
): Promise<ReferenceCustomer> => {
  const vendor = await startSimulator();
  const messenger = await startMessenger({ botToken: BOT_TOKEN });
  const environment = {
    BOT_TOKEN,
    BOT_API_URL: messenger.url,
    TOP_UP_KEY,
    LOCAL_BALANCE_USD: '1000',
    ...options.environment,
  };
  const gateway = await startGateway({ ...options, vendorUrl: vendor.url, environment });
  return {
    gateway,
    environment: () => ({
      GATEWAY_URL: gateway.url,
      GATEWAY_KEY: gateway.apiKey,
      INIT_DATA: messenger.initData(user, gateway.now()),
      BOT_SECRET: updateSecretOf(BOT_TOKEN),
      TOP_UP_KEY,
    }),
    send: (row, sent = {}) => {
      const body = bodyOf(sent);
      const headers = {
        ...exampleHeaders(row.operation),
        ...credentialOf(row, gateway, messenger, body),
        ...sent.headers,
      };
      return fetch(`${gateway.url}${pathOf(row, sent.path)}${sent.query ?? ''}`, {
        method: row.method,
        headers: typeof body === 'string' ? { 'content-type': 'application/json', ...headers } : headers,
        ...(body !== undefined && { body }),
      });
    },
    stop: () => stopAll(gateway, messenger, vendor),
  };
};

const stopAll = async (gateway: TestGateway, messenger: LocalMessenger, vendor: Simulator): Promise<void> => {
  await gateway.stop();
  await messenger.stop();
  await vendor.stop();
};

const pathOf = ({ path, operation }: ReferenceRow, given: Sent['path'] = {}): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const described = operation.parameters?.find((parameter) => parameter.in === 'path' && parameter.name === name);
    return encodeURIComponent(given[name] ?? String(described?.example));
  });

const exampleHeaders = ({ parameters = [] }: ReferenceOperation): Record<string, string> =>
  Object.fromEntries(
    parameters.flatMap(({ in: place, name, example }) =>
      place === 'header' && example !== undefined ? [[name, String(example)]] : [],
    ),
  );

type Body = string | FormData | undefined;

const bodyOf = ({ contentType, value }: Sent): Body => {
  if (!value) return undefined;
  return contentType === 'multipart/form-data' ? formOf(value) : JSON.stringify(value);
};

const formOf = (value: NonNullable<Sent['value']>): FormData => {
  const form = new FormData();
  for (const [name, member] of Object.entries(value)) {
    for (const each of [member].flat()) {
      const text = String(each);
      form.append(name, /\.(?:png|wav)$/.test(text) ? fileOf(text) : text);
    }
  }
  return form;
};

/** Creates the file that a file name in an example represents. The name can contain its dimensions. */
export const fileOf = (name: string): File => {
  const [, width = '1024', height = '1024'] = /(\d+)x(\d+)\.png$/.exec(name) ?? [];
  if (name.endsWith('.wav')) return new File([silence()], name, { type: 'audio/wav' });
  const picture = pictureOf({ width: Number(width), height: Number(height), about: name });
  return new File([Uint8Array.from(picture)], name, { type: 'image/png' });
};

/** One second of silence at 16 kHz. */
const silence = (): Uint8Array<ArrayBuffer> => {
  const bytes = new DataView(new ArrayBuffer(44 + 32_000));
  const put = (text: string, at: number) =>
    Array.from(text, (letter, index) => bytes.setUint8(at + index, letter.charCodeAt(0)));
  put('RIFF', 0);
  bytes.setUint32(4, 36 + 32_000, true);
  put('WAVEfmt ', 8);
  bytes.setUint32(16, 16, true);
  bytes.setUint16(20, 1, true);
  bytes.setUint16(22, 1, true);
  bytes.setUint32(24, 16_000, true);
  bytes.setUint32(28, 32_000, true);
  bytes.setUint16(32, 2, true);
  bytes.setUint16(34, 16, true);
  put('data', 36);
  bytes.setUint32(40, 32_000, true);
  return new Uint8Array(bytes.buffer);
};

/** Uses the first scheme that the document names. */
const credentialOf = (
  { operation }: ReferenceRow,
  gateway: TestGateway,
  messenger: LocalMessenger,
  body: Body,
): Record<string, string> => {
  const [scheme] = Object.keys(operation.security[0] ?? {});
  switch (scheme) {
    case 'apiKey':
      return { authorization: `Bearer ${gateway.apiKey}` };
    case 'messagesKey':
      return { 'x-api-key': gateway.apiKey };
    case 'providerKey':
      return { 'x-provider-api-key': gateway.apiKey };
    case 'initData':
      return { authorization: `tma ${messenger.initData(user, gateway.now())}` };
    case 'botSecret':
      return { 'x-telegram-bot-api-secret-token': updateSecretOf(BOT_TOKEN) };
    case 'paymentSignature':
      return { 'x-service-signature': signed(String(body), gateway.now()) };
    case undefined:
      return {};
    default:
      throw new Error(`the scheme ${scheme} is not known here`);
  }
};

const signed = (body: string, nowMs: number): string => {
  const seconds = Math.floor(nowMs / 1_000);
  return `t=${seconds},v1=${createHmac('sha256', TOP_UP_KEY).update(`${seconds}.${body}`).digest('hex')}`;
};
