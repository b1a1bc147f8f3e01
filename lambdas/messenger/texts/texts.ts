import type { Language } from '../../core/accounts/account-store.ts';
import { english } from './en.ts';
import { russian } from './ru.ts';
import type { Texts } from './words.ts';

/** `tag` is the IETF language tag of a user, `undefined` if the messenger sends none. */
export const languageOf = (tag: string | undefined): Language => (/^ru(?:-|$)/i.test(tag ?? '') ? 'ru' : 'en');

/** `undefined` means that the user's language is unknown. */
export const textsFor = (language: Language | undefined): Texts => (language === 'ru' ? russian : english);
