import type { Account } from './api-shapes.ts';
import { CopyButton } from './copy-button.tsx';
import { useLanguage } from './language.ts';
import { Section, WhenLoaded } from './section.tsx';
import { writeUsd } from './usd.ts';
import type { Loaded } from './use-loaded.ts';

/** Shows the exact amount, with the digits after the cents in a smaller size. */
const Amount = ({ usd }: { readonly usd: string }) => {
  const { language } = useLanguage();
  const { before, main, rest, after } = writeUsd(usd, { language, withCents: true });
  return (
    <span class="amount">
      {before}
      {main}
      {rest && <span class="amount-rest">{rest}</span>}
      {after}
    </span>
  );
};

export const Balance = ({ account }: { readonly account: Loaded<Account> }) => {
  const { texts } = useLanguage();
  return (
    <Section id="balance" title={texts.balance.title}>
      <WhenLoaded loaded={account} room="tall">
        {(value) => <BalanceFigures account={value} />}
      </WhenLoaded>
    </Section>
  );
};

const BalanceFigures = ({ account }: { readonly account: Account }) => {
  const { texts, count } = useLanguage();
  const { balance } = texts;
  return (
    <>
      {account.status === 'blocked' && (
        <p class="problem" role="alert">
          {balance.blocked}
        </p>
      )}
      <p class="figure">
        <Amount usd={account.balance_usd} />
      </p>
      <dl class="figures">
        <div>
          <dt>{balance.available}</dt>
          <dd>
            <Amount usd={account.available_usd} />
          </dd>
        </div>
        <div>
          <dt>{balance.held}</dt>
          <dd>
            <Amount usd={account.held_usd} />
            <span class="muted">{balance.holds(account.open_holds, count(account.open_holds))}</span>
          </dd>
        </div>
        <div>
          <dt>{balance.daysLeft}</dt>
          <dd>
            {account.days_left === null ? balance.noSpend : balance.days(account.days_left, count(account.days_left))}
          </dd>
        </div>
      </dl>
      <p class="muted">{balance.heldMeaning}</p>
      <TopUp account={account} />
    </>
  );
};

const TopUp = ({ account: { id, top_up_url: url, top_up_text: text } }: { readonly account: Account }) => {
  const { balance } = useLanguage().texts;
  return (
    <div class="top-up">
      {url !== null && (
        <a class="button" href={url} target="_blank" rel="noreferrer">
          {balance.topUp}
        </a>
      )}
      {text !== null && <p>{text}</p>}
      {url === null && text === null && <p class="muted">{balance.topUpUnknown}</p>}
      <p class="together">
        <span class="muted">{balance.accountId}</span> <code id="account-id">{id}</code>
        <CopyButton text={id} shownIn="account-id" />
      </p>
    </div>
  );
};
