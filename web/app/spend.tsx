import { useState } from 'preact/hooks';
import type { Api } from './api.ts';
import type { ApiKey, Spend as SpendFigures } from './api-shapes.ts';
import { Choice } from './choice.tsx';
import { KeySpend } from './key-spend.tsx';
import { useLanguage } from './language.ts';
import { Section, WhenLoaded } from './section.tsx';
import { SpendChart } from './spend-chart.tsx';
import { usdText } from './usd.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';

const ranges = ['7', '30', '90'] as const;
type Range = (typeof ranges)[number];

interface SpendProps {
  readonly api: Api;
  readonly keys: Loaded<readonly ApiKey[]>;
  /** Changes when everything must be loaded again. */
  readonly round: number;
}

export const Spend = ({ api, keys, round }: SpendProps) => {
  const { texts } = useLanguage();
  const [range, setRange] = useState<Range>('30');
  const spend = useLoaded(() => api.spend(Number(range)), [range, round]);
  const options = ranges.map((days) => [days, texts.spend.days(Number(days))] as const);
  return (
    <Section
      id="spend"
      title={texts.spend.title}
      beside={<Choice label={texts.spend.range} options={options} value={range} choose={setRange} />}
    >
      <WhenLoaded loaded={spend} room="tall">
        {(value) => {
          const [from, to] = [value.days.at(0)?.day, value.days.at(-1)?.day];
          return (
            <>
              <Figures spend={value} />
              {from !== undefined && to !== undefined && (
                <KeySpend api={api} keys={keys} from={from} to={to} round={round} />
              )}
            </>
          );
        }}
      </WhenLoaded>
    </Section>
  );
};

const Figures = ({ spend }: { readonly spend: SpendFigures }) => {
  const { texts, language, count } = useLanguage();
  return (
    <>
      <p class="summary">
        <span>
          {texts.spend.total} <strong>{usdText(spend.total_usd, { language, withCents: true })}</strong>
        </span>
        <span>
          {texts.spend.requests}: {count(spend.requests)}
        </span>
        <span>{texts.requests.failed(count(spend.failed), usdText('0', { language }))}</span>
      </p>
      <SpendChart spend={spend} />
      {!spend.complete && <p class="muted">{texts.spend.incomplete}</p>}
      <details>
        <summary>{texts.spend.asTable}</summary>
        {/* The keyboard scrolls what has the focus. */}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region without controls must take the focus */}
        <section class="scroll" tabIndex={0} aria-label={texts.spend.chart}>
          <SpendTable spend={spend} />
        </section>
      </details>
    </>
  );
};

const SpendTable = ({ spend: { days } }: { readonly spend: SpendFigures }) => {
  const { texts, language, count, day } = useLanguage();
  const shown = days.filter(({ requests, cost_usd }) => requests > 0 || cost_usd !== '0').reverse();
  return (
    <table>
      <caption class="unseen">{texts.spend.chart}</caption>
      <thead>
        <tr>
          <th scope="col">{texts.spend.day}</th>
          <th scope="col">{texts.spend.requests}</th>
          <th scope="col">{texts.spend.cost}</th>
        </tr>
      </thead>
      <tbody>
        {shown.map(({ day: date, requests, cost_usd, models }) => (
          <tr key={date}>
            <th scope="row">{day(date)}</th>
            <td>{count(requests)}</td>
            <td>
              {usdText(cost_usd, { language })}
              <ul class="plain muted">
                {models.map(({ model, cost_usd: cost }) => (
                  <li key={model}>{`${model ?? texts.spend.noModel} ${usdText(cost, { language })}`}</li>
                ))}
              </ul>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};
