import type { Credential, KeyCredential } from '../routes.ts';

type Values = Readonly<Record<string, string | undefined>>;

export interface CredentialForm {
  /** As the caller sent it; undefined when there is none, or another scheme. */
  read(headers: Values, query: Values): string | undefined;
  /** What a caller without one is told: the name of the header and how to send it. */
  readonly param: string;
  readonly advice: string;
}

const bearerOf = ({ authorization = '' }: Values): string | undefined => /^Bearer +(\S+) *$/i.exec(authorization)?.[1];

const trimmed = (value: string | undefined): string | undefined => value?.trim() || undefined;

const bearer: CredentialForm = {
  read: bearerOf,
  param: 'Authorization',
  advice: 'Send it as "Authorization: Bearer <key>".',
};

/** One form per group of endpoints (AUTH-1 to AUTH-3). The vendors' own headers are taken, too, so that their SDKs work unchanged. */
export const credentialForms: Record<KeyCredential, CredentialForm> = {
  bearer,
  messages: {
    read: (headers) => trimmed(headers['x-api-key']) ?? bearerOf(headers),
    param: 'x-api-key',
    advice: 'Send it as "x-api-key: <key>".',
  },
  generate_content: {
    // A header wins over the query (AUTH-3).
    read: (headers, query) =>
      trimmed(headers['x-provider-api-key']) ?? trimmed(headers['x-goog-api-key']) ?? trimmed(query.key),
    param: 'x-provider-api-key',
    advice: 'Send it as "x-provider-api-key: <key>" or "?key=<key>".',
  },
  // The lists of models, which every vendor's SDK has at the same path.
  any: {
    ...bearer,
    read: (headers) =>
      bearerOf(headers) ??
      trimmed(headers['x-api-key']) ??
      trimmed(headers['x-provider-api-key']) ??
      trimmed(headers['x-goog-api-key']),
  },
};

export const isKeyCredential = (credential: Credential): credential is KeyCredential => credential in credentialForms;
