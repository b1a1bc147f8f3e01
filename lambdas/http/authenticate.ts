import { INIT_DATA_ROTATION_MS, type InitData, readInitData } from '../core/accounts/init-data.ts';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { isEqual, isSigned, isTimely, updateSecretOf } from '../core/signature.ts';
import type { Credential, KeyCredential, OtherCredential } from '../routes.ts';

/** Secrets of callers without an API key. Without a secret, such callers are rejected. */
export interface CallerSecrets {
  /** Token of the messenger's bot. */
  readonly botToken: string | undefined;
  /** Secret that is shared with the payment provider (KEY-6). */
  readonly topUpKey: string | undefined;
}

/** Identity of an authenticated caller, before its body is checked. */
export interface CallerIdentity {
  readonly initData?: InitData;
  /** Throws if the caller did not sign this body. */
  readonly checkBody?: (bytes: Uint8Array) => void;
}

interface Claim {
  readonly credential: OtherCredential;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly nowMs: number;
  /** Whether the session of the mini app must be recent. */
  readonly fresh?: boolean | undefined;
}

/** Throws `invalid_signature` before the body is read if the signature itself is invalid (KEY-5). */
export const authenticateCaller = (secrets: CallerSecrets, claim: Claim): CallerIdentity =>
  provers[claim.credential](secrets, claim);

type Prover = (secrets: CallerSecrets, claim: Claim) => CallerIdentity;

const provers: Record<OtherCredential, Prover> = {
  /** Source: https://core.telegram.org/bots/api#setwebhook */
  bot: ({ botToken }, { headers }) => {
    const secret = headers['x-telegram-bot-api-secret-token'] ?? '';
    if (botToken === undefined || !isEqual(secret, updateSecretOf(botToken))) {
      throw refused('X-Telegram-Bot-Api-Secret-Token', 'not the token of the webhook. Register the webhook again.');
    }
    return {};
  },
  init_data: ({ botToken }, { headers: { authorization = '' }, nowMs, fresh }) => {
    const [, text = ''] = /^tma +(\S+) *$/i.exec(authorization) ?? [];
    const initData = botToken === undefined ? undefined : readInitData(botToken, text, nowMs);
    if (!initData)
      throw refused('Authorization', 'the session of the mini app has expired. Open it again from the bot.');
    if (fresh && initData.ageMs > INIT_DATA_ROTATION_MS) {
      throw refused(
        'Authorization',
        'to change API keys, the app must be opened within the last ten minutes. Open it again.',
      );
    }
    return { initData };
  },
  signature: ({ topUpKey }, { headers, nowMs }) => {
    const signature = headers['x-service-signature'] ?? '';
    const wrong = (): GatewayError =>
      refused(
        'X-Service-Signature',
        'must be t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">, at most five minutes old.',
      );
    if (topUpKey === undefined || !isTimely(signature, nowMs)) throw wrong();
    return {
      checkBody: (bytes) => {
        if (!isSigned(topUpKey, signature, bytes)) throw wrong();
      },
    };
  },
};

const refused = (header: string, problem: string): GatewayError =>
  new GatewayError('invalid_signature', `${header}: ${problem}`, { param: header });

type Values = Readonly<Record<string, string | undefined>>;

interface CredentialForm {
  /** Returns the credential as the caller sent it; undefined if there is none or it has another scheme. */
  read(headers: Values, query: Values): string | undefined;
  /** Advice for a caller without a credential: the header and how to send it. */
  readonly param: string;
  readonly advice: string;
}

const bearerOf = ({ authorization = '' }: Values): string | undefined => /^Bearer +(\S+) *$/i.exec(authorization)?.[1];

const trimmed = (value: string | undefined): string | undefined => value?.trim() || undefined;

const bearer: CredentialForm = {
  read: bearerOf,
  param: 'Authorization',
  advice: 'Send "Authorization: Bearer <key>".',
};

/**
 * Credential form of each group of endpoints (AUTH-1 to AUTH-3). The providers' own headers are accepted, so that their
 * SDKs work unchanged.
 */
export const credentialForms: Record<KeyCredential, CredentialForm> = {
  bearer,
  messages: {
    read: (headers) => trimmed(headers['x-api-key']) ?? bearerOf(headers),
    param: 'x-api-key',
    advice: 'Send "x-api-key: <key>".',
  },
  generate_content: {
    // The format's own ways take precedence over Bearer (AUTH-3), which a proxy can add for itself.
    read: (headers, query) =>
      trimmed(headers['x-provider-api-key']) ??
      trimmed(headers['x-goog-api-key']) ??
      trimmed(query.key) ??
      bearerOf(headers),
    param: 'x-provider-api-key',
    advice: 'Send "x-provider-api-key: <key>", "x-goog-api-key: <key>" or "?key=<key>".',
  },
  // For the lists of models, which every provider's SDK requests at the same path.
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
