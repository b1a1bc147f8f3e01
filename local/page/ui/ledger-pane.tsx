import { AccountFigures } from './account-figures.tsx';
import { LedgerRowView } from './ledger-row-view.tsx';
import { type Ledger, requestIdOf } from './ledger-rows.ts';
import { TopUp } from './top-up.tsx';
import type { RequestLine } from './wire.ts';

const LINES_SHOWN = 30;

/** Lists every request, including those without a hold. */
const RequestLines = ({ lines }: { lines: readonly RequestLine[] }) => (
  <details class="requests" open>
    <summary>Requests</summary>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a list that scrolls. */}
    <ol aria-label="Requests" tabIndex={0}>
      {lines.slice(0, LINES_SHOWN).map(({ at, method, path, status, total_ms }) => (
        <li key={`${at} ${path} ${total_ms}`} class={status >= 400 ? 'bad' : ''}>
          <span>{status}</span> <span class="path">{`${method} ${path}`}</span> <span>{total_ms} ms</span>
        </li>
      ))}
    </ol>
  </details>
);

interface LedgerPaneProps {
  readonly ledger: Ledger;
  readonly account: string | undefined;
  readonly onAccount: (id: string) => void;
  /** Id of the last request of the playground. */
  readonly requestId: string | undefined;
}

export const LedgerPane = ({ ledger, account, onAccount, requestId }: LedgerPaneProps) => {
  const rows = ledger.rows.filter((row) => row.account === account);
  return (
    <section class="pane ledger" aria-labelledby="ledger">
      <h2 id="ledger">Ledger</h2>
      <AccountFigures ledger={ledger} account={account} onAccount={onAccount} />
      <TopUp account={account ?? ''} />
      {rows.length === 0 && <p class="note">Every hold and its result appear here.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a list that scrolls. */}
      <ol class="rows" aria-label="Holds and payments" tabIndex={0}>
        {rows.map((row) => (
          <LedgerRowView key={row.id} row={row} isOwn={requestIdOf(row.id) === requestId} />
        ))}
      </ol>
      <RequestLines lines={ledger.requests} />
    </section>
  );
};
