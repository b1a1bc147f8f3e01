import type { UsageRow } from './api-shapes.ts';
import { useLanguage } from './language.ts';
import { formatPicos, parseUsd, usdText } from './usd.ts';

interface ReceiptProps {
  readonly row: UsageRow;
  /** Name of the API key, if the account still has it. */
  readonly keyName: string | undefined;
}

/** Receipt of one request: what it was, how long it took, and how its cost adds up. */
export const Receipt = ({ row, keyName }: ReceiptProps) => {
  const { texts, count, time } = useLanguage();
  const { receipt } = texts;
  const facts: readonly (readonly [name: string, value: string | null])[] = [
    [receipt.id, row.id],
    [receipt.time, time(row.created_at, 'with-year')],
    [receipt.endpoint, row.endpoint],
    [receipt.key, keyName ?? row.key_id],
    [receipt.provider, row.provider],
    [receipt.firstByte, row.first_byte_ms === null ? null : receipt.ms(count(row.first_byte_ms))],
    [receipt.total, row.total_ms === null ? null : receipt.ms(count(row.total_ms))],
    [receipt.endUser, row.end_user],
    [receipt.reason, row.reason],
    [receipt.ignored, row.ignored.join(', ') || null],
  ];
  return (
    <div class="receipt">
      <dl>
        {facts.map(
          ([name, value]) =>
            value !== null && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      <Costs row={row} />
      {row.overage && <p class="muted">{receipt.overage}</p>}
    </div>
  );
};

const Costs = ({ row: { usage, prices_usd: prices, cost_usd: cost } }: { readonly row: UsageRow }) => {
  const { texts, language, count } = useLanguage();
  const names: Readonly<Record<string, string>> = texts.prices.rates;
  const lines = Object.entries(usage ?? {}).flatMap(([name, units]) => {
    const price = prices?.[name];
    if (price === undefined || units === 0) return [];
    const sum = Number.isInteger(units) ? formatPicos(parseUsd(price) * BigInt(units)) : undefined;
    return [{ name: names[name.replaceAll('_', '')] ?? name.replaceAll('_', ' '), units, price, sum }];
  });
  if (lines.length === 0 || cost === null) return null;
  return (
    <table>
      <caption class="unseen">{texts.receipt.costs}</caption>
      <thead>
        <tr>
          <th scope="col">{texts.receipt.unit}</th>
          <th scope="col">{texts.receipt.cost}</th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ name, units, price, sum }) => (
          <tr key={name}>
            <th scope="row">
              {name} <span class="muted">{`${count(units)} × ${usdText(price, { language })}`}</span>
            </th>
            <td>{sum === undefined ? '' : usdText(sum, { language })}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">{texts.receipt.sum}</th>
          <td>{usdText(cost, { language })}</td>
        </tr>
      </tbody>
    </table>
  );
};
