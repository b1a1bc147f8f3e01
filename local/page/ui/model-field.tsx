import { useState } from 'preact/hooks';
import type { GatewayModel } from './modes.ts';

interface ModelFieldProps {
  readonly id: string;
  readonly models: readonly GatewayModel[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}

/** A grouped list of models with a search. */
export const ModelField = ({ id: fieldId, models, value, onChange }: ModelFieldProps) => {
  const [search, setSearch] = useState('');
  const words = search.toLowerCase().split(/\s+/);
  const found = models.filter(({ id, owned_by }) => words.every((word) => `${owned_by} ${id}`.includes(word)));
  const shown = models.filter((model) => model.id === value || found.includes(model));
  const owners = [...new Set(shown.map(({ owned_by }) => owned_by))];
  return (
    <div class="model">
      <label for={fieldId}>Model</label>
      <input
        type="search"
        aria-label="Search models"
        placeholder={`Search ${models.length} models`}
        value={search}
        onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        onKeyDown={(event) => {
          const [first] = found;
          if (event.key !== 'Enter' || !first) return;
          event.preventDefault();
          onChange(first.id);
        }}
      />
      <select id={fieldId} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {owners.map((owner) => (
          <optgroup key={owner} label={owner}>
            {shown
              .filter(({ owned_by }) => owned_by === owner)
              .map(({ id }) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
          </optgroup>
        ))}
      </select>
    </div>
  );
};
