import type { Ledger } from './ledger-rows.ts';

interface AccountFiguresProps {
  readonly ledger: Ledger;
  readonly account: string | undefined;
  readonly onAccount: (id: string) => void;
}

/** Shows the balance: the sum of the available and the held amount. */
export const AccountFigures = ({ ledger: { accounts }, account, onAccount }: AccountFiguresProps) => {
  const numbers = accounts.get(account ?? '');
  const ids = new Set([...accounts.keys(), ...(account === undefined ? [] : [account])]);
  return (
    <div class="figures">
      <label class="inline">
        Account
        <select value={account} onChange={({ currentTarget }) => onAccount(currentTarget.value)}>
          {[...ids].map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      </label>
      {!numbers && <p class="note">The amounts of this account appear after its next request or top-up.</p>}
      {numbers && (
        <dl class="sum">
          <Figure name="Balance" value={numbers.balance_usd} />
          <span aria-hidden="true">=</span>
          <Figure name="Available" value={numbers.available_usd} />
          <span aria-hidden="true">+</span>
          <Figure name={`Held (${numbers.open_holds})`} value={numbers.held_usd} />
        </dl>
      )}
    </div>
  );
};

const Figure = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>${value}</dd>
  </div>
);
