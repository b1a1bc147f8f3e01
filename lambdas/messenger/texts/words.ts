import type { Language } from '../../core/accounts/account-store.ts';
import type { ModelKind } from '../../core/catalog/schema.ts';
import type { Html } from '../html.ts';

type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

/** Returns a function for texts such as "1 request" and "2 requests". */
export const createCounting = (locale: string) => {
  const rules = new Intl.PluralRules(locale);
  return (count: number, forms: Forms): string => `${count} ${forms[rules.select(count)] ?? forms.other}`;
};

/** Returns a formatter for dates in UTC, as everywhere in the service. */
export const createDates = (locale: string) => {
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
  const time = new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: 'UTC',
  });
  return { day: (atMs: number) => day.format(atMs), time: (atMs: number) => time.format(atMs) };
};

/** Command names in the order of the list. */
export const commandNames = ['start', 'balance', 'usage', 'key', 'models', 'topup', 'help'] as const;

export type CommandName = (typeof commandNames)[number];

/** Amounts are decimal strings in USD. */
export interface BalanceFacts {
  readonly balance: string;
  readonly available: string;
  readonly held: string;
  readonly openHolds: number;
  readonly isBlocked: boolean;
}

export interface SpendFacts {
  readonly cost: string;
  readonly requests: number;
}

export interface RequestFacts {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly model: string | undefined;
  readonly cost: string;
  readonly isFailed: boolean;
}

export interface UsageFacts {
  readonly today: SpendFacts;
  readonly week: SpendFacts;
  /** `false` if the sums leave out older requests. */
  readonly isWhole: boolean;
  readonly last: readonly RequestFacts[];
}

export interface FirstKeyFacts {
  readonly apiKey: string;
  /** Masked API key that no longer works. Undefined if there was none. */
  readonly replaced: string | undefined;
  readonly baseUrl: string | undefined;
  /** Command line that sends a request to a model. */
  readonly example: string | undefined;
  /** URL of the client guide. */
  readonly guide: string | undefined;
}

export interface KeyFacts {
  readonly masked: string;
  /** Unix milliseconds. */
  readonly issuedAtMs: number;
  readonly isRevoked: boolean;
}

/** Unit of the price of an example. */
export type PricedUnit = 'image' | 'clip' | 'minute';

/** Texts of the bot in one language. */
export interface Texts {
  readonly language: Language;
  /** Descriptions in the messenger's list of commands. */
  readonly commands: Readonly<Record<CommandName, string>>;
  readonly openApp: string;
  readonly payNow: string;
  help(): Html;
  /** For a user without an account. */
  startFirst(): Html;
  firstKey(facts: FirstKeyFacts): Html;
  hadKey(masked: string): Html;
  keyRevoked(): Html;
  accountBlocked(): Html;
  balance(facts: BalanceFacts): Html;
  usage(facts: UsageFacts): Html;
  key(facts: KeyFacts): Html;
  modelsHeading(count: number): Html;
  kindHeading(kind: ModelKind, count: number): Html;
  /** One amount, or the amounts of input and output. */
  /** Prices of a million tokens. A text model has a second price, for output. */
  price(amounts: readonly string[], isLeast: boolean): string;
  /** Lowest and highest price of a typical request. */
  priceRange(least: string, most: string, unit: PricedUnit): string;
  andMore(count: number): string;
  modelsEnd(): Html;
  topUpLink(): Html;
  /** For a gateway whose operator has not set `TOP_UP_TEXT`. */
  topUpUnknown(accountId: string): Html;
}
