import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { SignatureV4 } from '@smithy/signature-v4';

/** Host of the endpoint that takes OTLP for X-Ray, by region. */
const HOST = /^xray\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/;

/**
 * Returns the region of X-Ray's own OTLP endpoint, whose requests must be signed. Undefined for any other URL.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-OTLPEndpoint.html
 */
export const xrayRegionOf = (url: string): string | undefined => HOST.exec(new URL(url).hostname)?.[1];

/** Sends one request. Rejects if no response arrives. */
type Post = (url: string, init: RequestInit) => Promise<Pick<Response, 'ok' | 'status' | 'arrayBuffer'>>;

interface XrayOptions {
  readonly url: string;
  readonly region: string;
  /** Time limit of one request in ms. */
  readonly timeoutMs: number;
  /** Default: the variables in which Lambda passes the credentials of the function's role. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly post?: Post;
}

/** Exports spans to X-Ray, signed with the role of the function. Repeats nothing: a failed batch is lost. */
export const createXrayExporter = ({
  url,
  region,
  timeoutMs,
  environment = process.env,
  post = fetch,
}: XrayOptions): SpanExporter => {
  const { hostname, pathname, protocol } = new URL(url);
  // The signature covers the session token, which must not be sent in clear text.
  if (protocol !== 'https:') throw new Error('The endpoint of X-Ray must use https.');
  const signer = new SignatureV4({
    service: 'xray',
    region,
    sha256: Sha256,
    // Read for each signature, because they change.
    credentials: async () => ({
      accessKeyId: environment.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: environment.AWS_SECRET_ACCESS_KEY ?? '',
      ...(environment.AWS_SESSION_TOKEN !== undefined && { sessionToken: environment.AWS_SESSION_TOKEN }),
    }),
  });
  const send = async (body: Uint8Array): Promise<void> => {
    const { headers } = await signer.sign({
      method: 'POST',
      protocol: 'https:',
      hostname,
      path: pathname,
      query: {},
      headers: { host: hostname, 'content-type': 'application/json' },
      body,
    });
    const response = await post(url, {
      method: 'POST',
      headers,
      redirect: 'error',
      body: Buffer.from(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.arrayBuffer();
    if (!response.ok) throw new RefusedExport(response.status);
  };
  return {
    export: (spans, done) => {
      const body = JsonTraceSerializer.serializeRequest(spans);
      if (!body) return done({ code: 0 });
      send(body).then(
        () => done({ code: 0 }),
        (error: Error) => done({ code: 1, error }),
      );
    },
    shutdown: async () => undefined,
  };
};

/** X-Ray rejected a batch. */
class RefusedExport extends Error {
  override readonly name = 'RefusedExport';
  readonly code: number;

  constructor(status: number) {
    super(`X-Ray rejected the spans with status ${status}`);
    this.code = status;
  }
}

type Secret = ConstructorParameters<ConstructorParameters<typeof SignatureV4>[0]['sha256']>[0];
type Data = Parameters<InstanceType<ConstructorParameters<typeof SignatureV4>[0]['sha256']>['update']>[0];

/** SHA-256 in the form that the signer takes. */
class Sha256 {
  readonly #secret: Secret;
  #hash: Hash | Hmac;

  constructor(secret?: Secret) {
    this.#secret = secret;
    this.#hash = this.#create();
  }

  update(data: Data): void {
    this.#hash.update(toBytes(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#create();
  }

  #create(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', toBytes(this.#secret));
  }
}

const toBytes = (data: Data): Uint8Array => {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
};
