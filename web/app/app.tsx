import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Api, createApi } from './api.ts';
import type { Account, Model } from './api-shapes.ts';
import { Balance } from './balance.tsx';
import { Header } from './header.tsx';
import type { Opening } from './init-data.ts';
import { Key } from './key.tsx';
import { Keys } from './keys.tsx';
import { type Language, LanguageProvider, textsOf, useLanguage } from './language.ts';
import { Prices } from './prices.tsx';
import { problemText } from './problem.tsx';
import { Quickstart } from './quickstart.tsx';
import { Requests } from './requests.tsx';
import { openSession } from './session.ts';
import { Spend } from './spend.tsx';
import { Threshold } from './threshold.tsx';
import { type Loaded, useLoaded } from './use-loaded.ts';

const STORED = 'language';

export const App = ({ opening: { initData, language: told } }: { readonly opening: Opening }) => {
  const session = useMemo(() => openSession(window), []);
  const [language, setLanguage] = useState<Language>(() => readChosen(session.read(STORED)) ?? told);
  const [round, setRound] = useState(0);
  const api = useMemo(() => createApi(initData), [initData]);
  const models = useLoaded(() => api.models(), [round]);
  useEffect(() => {
    document.documentElement.lang = language;
    document.title = textsOf[language].title;
  }, [language]);
  const choose = (chosen: Language): void => {
    session.write(STORED, chosen);
    setLanguage(chosen);
  };
  const refresh = (): void => setRound((now) => now + 1);
  const hasAccount = initData !== undefined;
  return (
    <LanguageProvider value={language}>
      <Header hasAccount={hasAccount} choose={choose} refresh={refresh} />
      <main id="content" tabIndex={-1}>
        {hasAccount ? <OwnPage api={api} round={round} models={models} /> : <OpenPage models={models} />}
        <Prices models={models} />
      </main>
    </LanguageProvider>
  );
};

const readChosen = (stored: string | undefined): Language | undefined =>
  stored === 'ru' || stored === 'en' ? stored : undefined;

interface ModelsProps {
  readonly models: Loaded<readonly Model[]>;
}

interface OwnPageProps extends ModelsProps {
  readonly api: Api;
  readonly round: number;
}

const OwnPage = ({ api, round, models }: OwnPageProps) => {
  const { texts } = useLanguage();
  const account = useLoaded(() => api.account(), [round]);
  const refusal = account.value === undefined ? account.error : undefined;
  if (refusal?.status === 401 || refusal?.status === 404) {
    return <OpenPage models={models} notice={problemText(refusal, texts)} />;
  }
  return <Cards api={api} round={round} account={account} models={models} />;
};

interface CardsProps extends OwnPageProps {
  readonly account: Loaded<Account>;
}

const Cards = ({ api, round, account, models }: CardsProps) => {
  // A replaced first key changes the list.
  const keys = useLoaded(() => api.keys(), [round, account.value?.key?.id]);
  return (
    <>
      <div class="column">
        <Balance account={account} />
        <Spend api={api} keys={keys} round={round} />
        <Requests api={api} keys={keys} round={round} />
      </div>
      <div class="column">
        {/* One card is enough to report that the account could not be read. */}
        {(account.value !== undefined || account.error === undefined) && (
          <>
            <Key api={api} account={account} />
            <Keys api={api} keys={keys} />
            <Threshold api={api} account={account} />
          </>
        )}
        <Quickstart models={models} />
      </div>
    </>
  );
};

interface OpenPageProps extends ModelsProps {
  /** Why no account is shown. */
  readonly notice?: string;
}

/** Public part of the page. */
const OpenPage = ({ models, notice }: OpenPageProps) => {
  const { texts } = useLanguage();
  return (
    <>
      <p class="card notice" role="alert">
        {notice ?? texts.problems.notOpened}
      </p>
      <Quickstart models={models} />
    </>
  );
};
