import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { en, type Texts } from './texts/en.ts';
import { ru } from './texts/ru.ts';

export type Language = 'en' | 'ru';

export const textsOf: Readonly<Record<Language, Texts>> = { en, ru };

const context = createContext<Language>('en');
export const LanguageProvider = context.Provider;

export interface Spoken {
  readonly language: Language;
  readonly texts: Texts;
  count(value: number): string;
  /** `value` is ISO 8601. Shown in the reader's own time zone. */
  time(value: string, style?: 'with-year'): string;
  /** A calendar day such as 2026-11-20, without a time zone. */
  day(value: string, style?: 'short'): string;
}

export const useLanguage = (): Spoken => {
  const language = useContext(context);
  const locale = language === 'ru' ? 'ru-RU' : 'en-GB';
  return {
    language,
    texts: textsOf[language],
    count: (value) => new Intl.NumberFormat(language === 'ru' ? 'ru-RU' : 'en-US').format(value),
    time: (value, style) =>
      new Intl.DateTimeFormat(locale, {
        day: 'numeric',
        month: 'short',
        ...(style === 'with-year' && { year: 'numeric' }),
        hour: '2-digit',
        minute: '2-digit',
      }).format(new Date(value)),
    day: (value, style) =>
      new Intl.DateTimeFormat(locale, {
        day: 'numeric',
        month: 'short',
        ...(style !== 'short' && { year: 'numeric' }),
        timeZone: 'UTC',
      }).format(new Date(value)),
  };
};
