/** Messages between the page and the local program. Amounts are decimal strings in USD. */
export interface LocalState {
  readonly local_key: LocalKey;
  /** Id of the provider of each model. */
  readonly model_vendors: Readonly<Record<string, string>>;
  readonly vendors: readonly VendorState[];
  /** The first accounts of the database, each with its numbers now. */
  readonly accounts: readonly AccountNumbers[];
  /** Undefined if the bot is connected to the real messenger. */
  readonly messenger: MessengerState | undefined;
  readonly webhooks: WebhookSwitch;
}

/** Marks a request that the page sends for itself. The list of requests leaves it out. */
export const OWN_REQUEST = { 'x-local-page': 'own' } as const;

/** Path of the webhook inbox on the local program. */
export const INBOX_PATH = '/local/webhooks/inbox';

export interface WebhookSwitch {
  /** URL of the inbox. */
  readonly inbox_url: string;
  /** Whether webhooks can also go to other ports of this machine (`LOCAL_WEBHOOKS=on`). */
  readonly other_ports: boolean;
}

/** Responses of the inbox to deliveries. `timeout` never responds. */
export const inboxAnswers = ['200', '500', 'timeout'] as const;
export type InboxAnswer = (typeof inboxAnswers)[number];

export interface WebhookDelivery {
  /** Number of the delivery in this run of the program, from 1. */
  readonly number: number;
  /** Unix milliseconds of the arrival. */
  readonly at: number;
  /** `webhook-id`. Undefined without the header. */
  readonly id: string | undefined;
  /** Position among the deliveries with this id, from 1. */
  readonly attempt: number;
  readonly answer: InboxAnswer;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Received text, which the signature covers. */
  readonly body: string;
}

export interface InboxState {
  readonly answer: InboxAnswer;
  /** The newest first. */
  readonly deliveries: readonly WebhookDelivery[];
}

/** API key of the account `local`. `replaced`: the account has a newer one, shown as `masked`. `revoked`: it has none. */
export type LocalKey =
  | { readonly kind: 'current'; readonly value: string }
  | { readonly kind: 'replaced'; readonly masked: string }
  | { readonly kind: 'revoked' };

export interface MessengerState {
  readonly app_url: string;
  /** Init data of the mini app, signed now. */
  readonly init_data: string;
  readonly messages: readonly ChatMessage[];
  /** Latest API key of the user that the messenger or the page has seen. It may be replaced by now. */
  readonly key: string | undefined;
  /** Masked API key of the user's account if `key` is undefined, as after a restart. Undefined without an account. */
  readonly masked_key: string | undefined;
}

export const faultNames = ['none', 'status 500', 'hang', 'cut 3', 'slow'] as const;
export type FaultName = (typeof faultNames)[number];

export interface VendorState {
  readonly id: string;
  readonly name: string;
  readonly is_simulated: boolean;
  readonly fault: FaultName;
}

export interface ChatMessage {
  readonly id: number;
  readonly from: 'user' | 'bot';
  readonly text: string;
  readonly spans: readonly TextSpan[];
  readonly buttons: readonly (readonly ChatButton[])[];
}

/** Range of the text with another style, in UTF-16 units. */
export interface TextSpan {
  readonly kind: 'bold' | 'code' | 'link';
  readonly offset: number;
  readonly length: number;
  readonly url?: string | undefined;
}

/** `app` opens the mini app. */
export interface ChatButton {
  readonly kind: 'app' | 'link';
  readonly text: string;
  readonly url: string;
}

export interface AccountNumbers {
  readonly account: string;
  readonly balance_usd: string;
  readonly available_usd: string;
  readonly held_usd: string;
  readonly open_holds: number;
}

interface AccountWrite {
  readonly account: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** The account after this write. */
  readonly numbers: AccountNumbers;
}

export type LedgerEvent =
  | (AccountWrite & { readonly kind: 'held'; readonly hold: string; readonly amount_usd: string })
  | (AccountWrite & {
      readonly kind: 'settled' | 'released';
      readonly hold: string;
      /** Amount of the hold. */
      readonly held_usd: string;
      /** Amount of the charge. */
      readonly amount_usd: string;
      readonly model: string | undefined;
      readonly reason: string | undefined;
    })
  | (AccountWrite & {
      /** Returned: a refund, a chargeback or a debit. */
      readonly kind: 'credited' | 'returned';
      readonly amount_usd: string;
    });

export interface RequestLine {
  /** Unix milliseconds. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly total_ms: number;
}

/** The events of `/local/events` by name. */
export interface PageEvents {
  readonly ledger: LedgerEvent;
  readonly request: RequestLine;
  readonly message: ChatMessage;
  /** API key of the messenger's user. */
  readonly bot_key: string;
  readonly vendors: readonly VendorState[];
  /** The inbox has changed. Sent without its deliveries, which can be large. */
  readonly webhook: { readonly at: number };
}
