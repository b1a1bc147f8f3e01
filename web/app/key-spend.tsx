import { useState } from 'preact/hooks';
import type { Api } from './api.ts';
import type { ApiKey, Summary } from './api-shapes.ts';
import { useLanguage } from './language.ts';
import { WhenLoaded } from './section.tsx';
import { addUsd, compareUsd, usdText } from './usd.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';

interface KeySpendProps {
  readonly api: Api;
  readonly keys: Loaded<readonly ApiKey[]>;
  /** First and last UTC day. */
  readonly from: string;
  readonly to: string;
  readonly round: number;
}

/** Spend by API key and, for each, by model. Loaded when the user opens it, which keeps the page short. */
export const KeySpend = (props: KeySpendProps) => {
  const { texts } = useLanguage();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{texts.spend.perKey}</summary>
      {isOpen && <LoadedKeySpend {...props} />}
    </details>
  );
};

const LoadedKeySpend = ({ api, keys, from, to, round }: KeySpendProps) => {
  const summary = useLoaded(() => api.summary(from, to), [from, to, round]);
  return (
    <WhenLoaded loaded={summary}>
      {(value) => <KeyRows summary={value} names={new Map(keys.value?.map(({ id, name }) => [id, name]))} />}
    </WhenLoaded>
  );
};

interface KeySum {
  readonly keyId: string;
  readonly cost: string;
  readonly models: readonly (readonly [model: string | null, cost: string])[];
}

/** The most expensive key, and the most expensive model of each key, first. */
const toKeySums = ({ data }: Summary): readonly KeySum[] => {
  const groups = Map.groupBy(data, ({ key_id, other }) => (other ? 'other' : (key_id ?? 'none')));
  const sums = [...groups].map(([keyId, rows]) => {
    const models = [...Map.groupBy(rows, ({ model }) => model)].map(
      ([model, same]) => [model, addUsd(same.map(({ cost_usd }) => cost_usd))] as const,
    );
    const cost = addUsd(rows.map(({ cost_usd }) => cost_usd));
    return { keyId, cost, models: models.toSorted(([, one], [, next]) => compareUsd(next, one)) };
  });
  return sums.toSorted((one, next) => compareUsd(next.cost, one.cost));
};

/** Keys and models that are shown. Their sums include the others. */
const SHOWN = 6;
const MODELS_SHOWN = 3;

const KeyRows = ({ summary, names }: { readonly summary: Summary; readonly names: ReadonlyMap<string, string> }) => {
  const { texts, language, count } = useLanguage();
  const sums = toKeySums(summary);
  const money = (usd: string): string => usdText(usd, { language });
  const nameOf = (keyId: string): string => {
    if (keyId === 'none') return texts.spend.noKey;
    if (keyId === 'other') return texts.spend.otherKeys;
    return names.get(keyId) ?? texts.spend.formerKey(keyId);
  };
  if (sums.length === 0) return <p class="muted">{texts.spend.none}</p>;
  return (
    <>
      <ul class="key-sums">
        {sums.slice(0, SHOWN).map(({ keyId, cost, models }) => (
          <li key={keyId}>
            <span class="name">{nameOf(keyId)}</span>
            <span class="cost">{money(cost)}</span>
            <span class="muted">
              {models
                .slice(0, MODELS_SHOWN)
                .map(([model, part]) => `${model ?? texts.spend.noModel} ${money(part)}`)
                .join(', ')}
              {models.length > MODELS_SHOWN && ` ${texts.spend.moreModels(count(models.length - MODELS_SHOWN))}`}
            </span>
          </li>
        ))}
      </ul>
      {sums.length > SHOWN && <p class="muted">{texts.spend.moreKeys(count(sums.length - SHOWN))}</p>}
      {!summary.complete && <p class="muted">{texts.spend.incompleteKeys}</p>}
    </>
  );
};
