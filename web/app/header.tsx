import { Choice } from './choice.tsx';
import { type Language, useLanguage } from './language.ts';
import type { Texts } from './texts/en.ts';

export interface HeaderProps {
  /** Without an account there are fewer sections. */
  readonly hasAccount: boolean;
  readonly choose: (language: Language) => void;
  readonly refresh: () => void;
}

const languages = [
  ['en', 'EN'],
  ['ru', 'RU'],
] as const;

export const Header = ({ hasAccount, choose, refresh }: HeaderProps) => {
  const { texts, language } = useLanguage();
  return (
    <>
      <a class="skip" href="#content">
        {texts.skip}
      </a>
      <header>
        <h1>{texts.title}</h1>
        <Choice label={texts.language} options={languages} value={language} choose={choose} />
        <button type="button" class="icon" aria-label={texts.refresh} title={texts.refresh} onClick={refresh}>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M20 11a8 8 0 1 0-2.3 6.2M20 4v7h-7" />
          </svg>
        </button>
      </header>
      <nav aria-label={texts.sections}>
        <ul>
          {sectionsOf(texts, hasAccount).map(([id, title]) => (
            <li key={id}>
              <a href={`#${id}`}>{title}</a>
            </li>
          ))}
        </ul>
      </nav>
    </>
  );
};

const sectionsOf = (texts: Texts, hasAccount: boolean): readonly (readonly [id: string, title: string])[] => {
  const own = [
    ['balance', texts.balance.title],
    ['spend', texts.spend.title],
    ['requests', texts.requests.title],
    ['key', texts.key.title],
    ['keys', texts.keys.title],
  ] as const;
  const open = [
    ['quickstart', texts.quickstart.title],
    ['prices', texts.prices.title],
  ] as const;
  return hasAccount ? [...own, ...open] : open;
};
