import type { ApiKey } from './api-shapes.ts';
import { type Spoken, useLanguage } from './language.ts';
import { formatPicos, parseUsd, usdText } from './usd.ts';

interface KeyItemProps {
  readonly apiKey: ApiKey;
  readonly edit: () => void;
  readonly revoke: () => void;
}

export const KeyItem = ({ apiKey, edit, revoke }: KeyItemProps) => {
  const spoken = useLanguage();
  const { keys } = spoken.texts;
  const isExpired = apiKey.expires_at !== null && Date.parse(apiKey.expires_at) <= Date.now();
  return (
    <>
      <h3>
        <span class="name">{apiKey.name}</span>
        {apiKey.first && <span class="tag">{keys.first}</span>}
        {apiKey.rights.includes('manage') && <span class="tag">{keys.manages}</span>}
        {isExpired && <strong class="mark">{keys.expired}</strong>}
      </h3>
      <p>
        <code>{apiKey.masked}</code>
      </p>
      <ul class="plain muted">
        {factsOf(apiKey, spoken).map((fact) => (
          <li key={fact}>{fact}</li>
        ))}
      </ul>
      <div class="together">
        <button type="button" aria-label={keys.editLabel(apiKey.name)} onClick={edit}>
          {keys.edit}
        </button>
        {!apiKey.first && (
          <button type="button" class="danger" aria-label={keys.revokeLabel(apiKey.name)} onClick={revoke}>
            {keys.revoke}
          </button>
        )}
      </div>
    </>
  );
};

const factsOf = (key: ApiKey, spoken: Spoken): readonly string[] => {
  const { texts, time, count } = spoken;
  const { keys } = texts;
  return [
    moneyOf(key, spoken),
    key.limit_resets_at === null ? '' : keys.resets(time(key.limit_resets_at, 'with-year')),
    key.last_used_at === null ? keys.neverUsed : keys.lastUsed(time(key.last_used_at, 'with-year')),
    key.expires_at === null ? '' : keys.expires(time(key.expires_at, 'with-year')),
    key.models === null ? '' : keys.onlyModels(key.models.join(', ')),
    key.requests_per_second === null ? '' : keys.rate(count(key.requests_per_second)),
  ].filter((fact) => fact !== '');
};

const moneyOf = (key: ApiKey, { texts: { keys }, ...spoken }: Spoken): string => {
  const money = (usd: string): string => usdText(usd, { language: spoken.language });
  const { limit_usd: limit, limit_period: period, spent_usd: spent } = key;
  if (limit === null) return spent === null ? keys.spentUnknown : keys.spent(money(spent));
  return keys.left(money(leftOf(key, limit)), money(limit), keys.per[period ?? 'total']);
};

/** Returns what the cap still allows: the limit without the charges and the open holds of its period. */
const leftOf = ({ spent_usd: spent, held_usd: held }: ApiKey, limit: string): string => {
  const left = parseUsd(limit) - parseUsd(spent ?? '0') - parseUsd(held ?? '0');
  return formatPicos(left < 0n ? 0n : left);
};
