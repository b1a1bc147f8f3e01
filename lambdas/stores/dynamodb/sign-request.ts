import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface Scope {
  readonly region: string;
  readonly service: string;
}

/** A request without a query. */
export interface UnsignedRequest {
  readonly path: string;
  /** Every header that is sent, with names in lower case, including `host`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Headers = Record<string, string>;

/** Returns the headers of the request, with its signature. */
export type Signer = (request: UnsignedRequest, credentials: Credentials, scope: Scope, timeMs: number) => Headers;

const ALGORITHM = 'AWS4-HMAC-SHA256';

interface SigningKey extends Scope {
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  readonly day: string;
  readonly key: KeyObject;
}

/**
 * Signs with version 4, as
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html describes it
 * (2026-11-27). Keeps the derived key, which is the same for a day, until one of its sources changes.
 */
export const createSigner = (): Signer => {
  let last: SigningKey | undefined;
  return (request, credentials, scope, timeMs) => {
    const time = new Date(timeMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
    const day = time.slice(0, 8);
    if (!last || !isKeyOf(last, credentials, scope, day)) last = deriveKey(credentials, scope, day);
    const bodyHash = hash('sha256', request.body);
    const headers: Headers = { ...request.headers, 'x-amz-date': time, 'x-amz-content-sha256': bodyHash };
    if (credentials.sessionToken) headers['x-amz-security-token'] = credentials.sessionToken;
    const names = Object.keys(headers).sort();
    const signedNames = names.join(';');
    let lines = '';
    for (const name of names) lines += `${name}:${toCanonical(headers[name])}\n`;
    const canonical = `POST\n${toCanonicalPath(request.path)}\n\n${lines}\n${signedNames}\n${bodyHash}`;
    const scopeText = `${day}/${scope.region}/${scope.service}/aws4_request`;
    const text = `${ALGORITHM}\n${time}\n${scopeText}\n${hash('sha256', canonical)}`;
    const signature = createHmac('sha256', last.key).update(text).digest('hex');
    headers.authorization = `${ALGORITHM} Credential=${credentials.accessKeyId}/${scopeText}, SignedHeaders=${signedNames}, Signature=${signature}`;
    return headers;
  };
};

const isKeyOf = (key: SigningKey, credentials: Credentials, { region, service }: Scope, day: string): boolean =>
  key.secretAccessKey === credentials.secretAccessKey &&
  key.sessionToken === credentials.sessionToken &&
  key.day === day &&
  key.region === region &&
  key.service === service;

const deriveKey = ({ secretAccessKey, sessionToken }: Credentials, scope: Scope, day: string): SigningKey => {
  const { region, service } = scope;
  let key: Buffer = Buffer.from(`AWS4${secretAccessKey}`);
  for (const part of [day, region, service, 'aws4_request']) key = createHmac('sha256', key).update(part).digest();
  // A key object is used six times faster than its bytes.
  return { secretAccessKey, sessionToken, day, region, service, key: createSecretKey(key) };
};

const toCanonical = (value = ''): string => value.trim().replaceAll(/\s+/g, ' ');

/** Encodes the path a second time, because it is already encoded in the URL. */
const toCanonicalPath = (path: string): string =>
  path === '/' ? path : path.split('/').map(encodeAll).join('/').replaceAll(/\/+/g, '/');

const encodeAll = (part: string): string =>
  encodeURIComponent(part).replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
