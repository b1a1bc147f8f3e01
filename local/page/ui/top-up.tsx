import { useState } from 'preact/hooks';
import { post, wordsOf } from './asking.ts';

/** Simulates the payment provider: reports a signed payment, and the account is credited. */
export const TopUp = ({ account }: { account: string }) => {
  const [outcome, setOutcome] = useState('');
  const send = (form: HTMLFormElement): void => {
    const amount_usd = new FormData(form).get('amount_usd')?.toString().trim() ?? '';
    post('/local/top-up', { account, amount_usd }).then(
      () => setOutcome(`$${amount_usd} credited`),
      (error: unknown) => setOutcome(wordsOf(error)),
    );
  };
  return (
    <form
      class="top-up"
      onSubmit={(event) => {
        event.preventDefault();
        send(event.currentTarget);
      }}
    >
      <label class="inline">
        Top up by $
        <input id="top-up" name="amount_usd" inputMode="decimal" required defaultValue="5" size={5} />
      </label>
      <button type="submit" disabled={account === ''}>
        Pay
      </button>
      <span class="note" role="status">
        {outcome}
      </span>
    </form>
  );
};
