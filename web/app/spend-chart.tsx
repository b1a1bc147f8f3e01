import { useId } from 'preact/hooks';
import type { Spend } from './api-shapes.ts';
import { useLanguage } from './language.ts';
import { type Bars, type Series, toBars } from './spend-bars.ts';
import { formatPicos, parseUsd, usdText } from './usd.ts';

/** Units of the drawing, which is stretched to its space. */
const STEP = 12;
const BAR = 9;
const HEIGHT = 100;

export const SpendChart = ({ spend }: { readonly spend: Spend }) => {
  const { texts } = useLanguage();
  const drawn = toBars(spend);
  if (drawn.series.length === 0 || drawn.bars.length === 0) return <p class="muted none">{texts.spend.none}</p>;
  return (
    <figure class="chart">
      <Plot drawn={drawn} total={spend.total_usd} />
      <Legend series={drawn.series} />
    </figure>
  );
};

const Plot = ({ drawn, total }: { readonly drawn: Bars; readonly total: string }) => {
  const { texts, language, day } = useLanguage();
  const id = useId();
  const { bars, topUsd } = drawn;
  const highest = bars.reduce((most, bar) => (parseUsd(bar.costUsd) > parseUsd(most.costUsd) ? bar : most));
  const money = (usd: string): string => usdText(usd, { language });
  const [first, last] = [bars[0]?.day, bars.at(-1)?.day];
  return (
    <div class="plot">
      <div class="scale" aria-hidden="true">
        <span>{money(topUsd)}</span>
        <span>{money(formatPicos(parseUsd(topUsd) / 2n))}</span>
        <span>{money('0')}</span>
      </div>
      <svg
        role="img"
        aria-labelledby={`${id}-title ${id}-meaning`}
        viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        <title id={`${id}-title`}>{texts.spend.chart}</title>
        <desc id={`${id}-meaning`}>
          {texts.spend.chartMeaning(money(total), money(highest.costUsd), day(highest.day))}
        </desc>
        <line class="grid-line" x1="0" x2="100%" y1={HEIGHT / 2} y2={HEIGHT / 2} />
        {bars.map((bar, index) => (
          <g key={bar.day}>
            <title>{`${day(bar.day)}: ${money(bar.costUsd)}`}</title>
            <rect class="whole-day" x={index * STEP} y="0" width={STEP} height={HEIGHT} />
            {bar.segments.map(({ series, top, height }) => (
              <rect
                key={series}
                class={`series-${series}`}
                x={index * STEP + (STEP - BAR) / 2}
                y={top * HEIGHT}
                width={BAR}
                height={height * HEIGHT}
              />
            ))}
          </g>
        ))}
      </svg>
      <div class="span" aria-hidden="true">
        <span>{first && day(first, 'short')}</span>
        <span>{last && day(last, 'short')}</span>
      </div>
    </div>
  );
};

const Legend = ({ series }: { readonly series: readonly Series[] }) => {
  const { texts, language } = useLanguage();
  const nameOf = ({ isRest, models }: Series): string =>
    isRest ? texts.spend.otherModels : (models[0] ?? texts.spend.noModel);
  return (
    <figcaption>
      <ul class="legend" aria-label={texts.spend.perModel}>
        {series.map((one, index) => (
          <li key={nameOf(one)}>
            <svg class="swatch" viewBox="0 0 1 1" aria-hidden="true">
              <rect class={`series-${index}`} width="1" height="1" />
            </svg>
            <span class="name">{nameOf(one)}</span>
            <span class="cost">{usdText(one.costUsd, { language })}</span>
          </li>
        ))}
      </ul>
    </figcaption>
  );
};
