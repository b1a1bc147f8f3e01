import { useState } from 'preact/hooks';
import type { Model } from './api-shapes.ts';
import { useLanguage } from './language.ts';
import { type PriceLine, type PriceLines, toExampleLines, toPriceLines } from './price-lines.ts';
import { Section, WhenLoaded } from './section.tsx';
import type { Loaded } from './use-loaded.ts';

type Models = readonly Model[];

export const Prices = ({ models }: { readonly models: Loaded<Models> }) => {
  const { texts } = useLanguage();
  return (
    <Section id="prices" title={texts.prices.title}>
      <WhenLoaded loaded={models} room="tall">
        {(value) => <PriceList models={value} />}
      </WhenLoaded>
    </Section>
  );
};

const PriceList = ({ models }: { readonly models: Models }) => {
  const { texts, count } = useLanguage();
  const [search, setSearch] = useState('');
  const [kind, setKind] = useState('');
  const kinds = [...new Set(models.map((model) => model.kind))];
  const [isWhole, setIsWhole] = useState(false);
  const isOpen = isWhole || search.trim() !== '' || kind !== '';
  const found = models.filter((model) => (kind === '' || model.kind === kind) && matches(model, search));
  return (
    <>
      <search class="filters">
        <label>
          <span>{texts.prices.search}</span>
          <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        </label>
        <label>
          <span>{texts.prices.kind}</span>
          <select value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
            <option value="">{texts.prices.allKinds}</option>
            {kinds.map((one) => (
              <option key={one} value={one}>
                {kindName(texts.prices.kinds, one)}
              </option>
            ))}
          </select>
        </label>
      </search>
      <p class="muted" role="status">
        {found.length === 0 ? texts.prices.none : texts.prices.found(found.length, count(found.length))}
      </p>
      {isOpen ? (
        <ul class="models">
          {found.map((model) => (
            <ModelPrices key={model.id} model={model} />
          ))}
        </ul>
      ) : (
        <button type="button" class="wide" onClick={() => setIsWhole(true)}>
          {texts.prices.showAll}
        </button>
      )}
    </>
  );
};

/** Whether every word is in the model's name or its owner's. */
const matches = ({ id, owned_by }: Model, search: string): boolean => {
  const text = `${id} ${owned_by}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};

const kindName = (kinds: Readonly<Record<string, string>>, kind: string): string => kinds[kind] ?? kind;

const ModelPrices = ({ model }: { readonly model: Model }) => {
  const spoken = useLanguage();
  const { prices } = spoken.texts;
  const { shutdown_date: end, replacement } = model.lifecycle;
  const today = new Date().toISOString().slice(0, 10);
  return (
    <li>
      <h3>
        <span class="name">{model.id}</span> <span class="tag">{kindName(prices.kinds, model.kind)}</span>
      </h3>
      {toPriceLines(model, today, spoken).map((lines) => (
        <Lines key={lines.span + lines.protocols} lines={lines} />
      ))}
      <Rates title={prices.examples} rates={toExampleLines(model, today, spoken)} />
      {end !== null && (
        <p class="muted">
          {prices.shutdown(spoken.day(end))}
          {replacement !== null && `, ${prices.replacement(replacement)}`}
        </p>
      )}
    </li>
  );
};

const Lines = ({ lines: { span, unit, protocols, lines } }: { readonly lines: PriceLines }) => (
  <div class="price">
    <p class="muted">{[protocols, unit, span].filter((text) => text !== '').join(', ')}</p>
    {lines.map(({ when, rates }) => (
      <Rates key={when} title={when} rates={rates} />
    ))}
  </div>
);

const Rates = ({ title, rates }: { readonly title: string; readonly rates: PriceLine['rates'] }) =>
  rates.length > 0 && (
    <div>
      {title && <p class="muted">{title}</p>}
      <dl class="rates">
        {rates.map(([name, price]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{price}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
