import { type LedgerRow, requestIdOf } from './ledger-rows.ts';

interface LedgerRowViewProps {
  readonly row: LedgerRow;
  /** Whether the row belongs to the last request of the playground. */
  readonly isOwn: boolean;
}

/** Signs of the amounts of movements without a hold. */
const signs: Partial<Record<LedgerRow['state'], string>> = { credited: '+', returned: '-' };

/** The bar is the hold. Its filled part is the charge, and the rest was released. */
export const LedgerRowView = ({ row, isOwn }: LedgerRowViewProps) => (
  <li
    class={`row ${row.state}${isOwn ? ' own' : ''}`}
    id={`request-${requestIdOf(row.id)}`}
    data-request={requestIdOf(row.id)}
  >
    <span class="what">{row.state === 'held' ? 'hold' : row.state}</span>
    <span class="amount">
      {signs[row.state] ?? ''}${row.amount_usd ?? row.held_usd}
    </span>
    {row.held_usd !== undefined && <Bar row={row} />}
    <span class="detail">
      {row.model} {row.reason && <em>{row.reason}</em>}
    </span>
    {row.held_usd !== undefined && row.state !== 'held' && <span class="was">of ${row.held_usd} held</span>}
    <time>{new Date(row.at).toLocaleTimeString('en-GB')}</time>
  </li>
);

const Bar = ({ row: { state, held_usd, amount_usd } }: { row: LedgerRow }) => {
  // A hold of 0 has no charge.
  const part = state === 'held' ? 1 : Math.min(1, Number(amount_usd) / (Number(held_usd) || 1));
  return (
    <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect width="100" height="4" class="track" />
      <rect height="4" class="part" style={{ width: `${part * 100}px` }} />
    </svg>
  );
};
