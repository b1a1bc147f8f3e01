import type { Language } from '../../core/accounts/account-store.ts';
import type { ModelKind } from '../../core/catalog/schema.ts';
import type { Html } from '../html.ts';
import { english } from './en.ts';
import { russian } from './ru.ts';
import type { CommandName } from './words.ts';

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
  /** False when there were more requests than are added up. */
  readonly isWhole: boolean;
  readonly last: readonly RequestFacts[];
}

export interface FirstKeyFacts {
  readonly apiKey: string;
  readonly baseUrl: string | undefined;
  /** A command line that asks a model something. */
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

/** What a listed price is for; text has a second one, for what is written. */
export type PricedUnit = 'tokens' | 'characters' | 'image' | 'megapixel' | 'second' | 'audio_minute';

/** Everything the bot says, in one language. */
export interface Texts {
  readonly language: Language;
  /** What each command does, in a few words. */
  readonly commands: Readonly<Record<CommandName, string>>;
  readonly openApp: string;
  readonly payNow: string;
  help(): Html;
  /** To whoever asks for something of an account before there is one. */
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
  /** One amount, or what is read and what is written. */
  price(amounts: readonly string[], unit: PricedUnit, isLeast: boolean): string;
  andMore(count: number): string;
  modelsEnd(): Html;
  topUpLink(): Html;
  /** Where nobody has said how an account is topped up. */
  topUpUnknown(accountId: string): Html;
}

/** The messenger tells of a user's language by an IETF tag, or nothing. */
export const languageOf = (tag: string | undefined): Language => (/^ru(?:-|$)/i.test(tag ?? '') ? 'ru' : 'en');

/** Undefined of a user whose language is not known. */
export const textsFor = (language: Language | undefined): Texts => (language === 'ru' ? russian : english);
