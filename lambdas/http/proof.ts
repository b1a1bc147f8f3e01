import { INIT_DATA_ROTATION_MS, type InitData, readInitData } from '../core/accounts/init-data.ts';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { isEqual, isSigned, isTimely, updateSecretOf } from '../core/signature.ts';
import type { OtherCredential } from '../routes.ts';

/** What callers without an API key are known by. Without a secret nobody gets in by it. */
export interface CallerSecrets {
  /** Of the messenger's bot. */
  readonly botToken: string | undefined;
  /** Shared with whoever reports payments (KEY-6). */
  readonly topUpKey: string | undefined;
}

/** A caller has proved itself, as far as that goes without the body. */
export interface Proof {
  readonly initData?: InitData;
  /** Throws for a body that the caller has not signed. */
  readonly checkBody?: (bytes: Uint8Array) => void;
}

interface Claim {
  readonly credential: OtherCredential;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly nowMs: number;
  /** What the mini app was opened with has to be recent. */
  readonly fresh?: boolean | undefined;
}

/** Throws `invalid_signature` before the body is read, where that can be told (KEY-5). */
export const prove = (secrets: CallerSecrets, claim: Claim): Proof => provers[claim.credential](secrets, claim);

type Prover = (secrets: CallerSecrets, claim: Claim) => Proof;

const provers: Record<OtherCredential, Prover> = {
  /** https://core.telegram.org/bots/api#setwebhook */
  bot: ({ botToken }, { headers }) => {
    const secret = headers['x-telegram-bot-api-secret-token'] ?? '';
    if (botToken === undefined || !isEqual(secret, updateSecretOf(botToken))) {
      throw refused('X-Telegram-Bot-Api-Secret-Token', 'it is not the one that the webhook was set with.');
    }
    return {};
  },
  init_data: ({ botToken }, { headers: { authorization = '' }, nowMs, fresh }) => {
    const [, text = ''] = /^tma +(\S+) *$/i.exec(authorization) ?? [];
    const initData = botToken === undefined ? undefined : readInitData(botToken, text, nowMs);
    if (!initData)
      throw refused('Authorization', 'what the mini app was opened with is not valid any more. Open it again.');
    if (fresh && initData.ageMs > INIT_DATA_ROTATION_MS) {
      throw refused(
        'Authorization',
        'the mini app was opened more than ten minutes ago. Open it again to replace the key.',
      );
    }
    return { initData };
  },
  signature: ({ topUpKey }, { headers, nowMs }) => {
    const signature = headers['x-service-signature'] ?? '';
    const wrong = (): GatewayError =>
      refused(
        'X-Service-Signature',
        'must be t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">, five minutes old at most.',
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
