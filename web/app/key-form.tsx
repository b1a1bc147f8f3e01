import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ApiError } from './api.ts';
import { capPeriods, type KeyChange } from './api-shapes.ts';
import { changeOf, type KeyDraft } from './key-draft.ts';
import { keyProblem } from './key-problem.ts';
import { useLanguage } from './language.ts';
import { toApiError } from './use-loaded.ts';

interface KeyFormProps {
  readonly title: string;
  readonly before: KeyDraft;
  /** Whether the key can have restrictions. The first key cannot. */
  readonly isRestrictable: boolean;
  /** Rejects with an ApiError if the gateway refuses the change. */
  readonly save: (change: KeyChange) => Promise<void>;
  readonly cancel: () => void;
}

type Progress = 'typing' | 'saving' | { readonly field: string | undefined; readonly text: string };

/** Form of a new or an existing API key. */
export const KeyForm = ({ title, before, isRestrictable, save, cancel }: KeyFormProps) => {
  const { texts } = useLanguage();
  const { keys } = texts;
  const id = useId();
  const first = useRef<HTMLInputElement>(null);
  const [draft, setDraft] = useState(before);
  const [progress, setProgress] = useState<Progress>('typing');
  useEffect(() => first.current?.focus(), []);
  const wrong = typeof progress === 'object' ? progress : undefined;
  const set = (changed: Partial<KeyDraft>): void => {
    setDraft((now) => ({ ...now, ...changed }));
    setProgress('typing');
  };
  const submit = async (): Promise<void> => {
    if (progress === 'saving') return;
    const change = changeOf(before, draft);
    if (typeof change === 'string') return setProgress({ field: change, text: keys.invalid[change] });
    if (Object.keys(change).length === 0) return cancel();
    setProgress('saving');
    try {
      await save(change);
    } catch (thrown) {
      const error: ApiError = toApiError(thrown);
      setProgress({ field: error.param, text: keyProblem(error, texts) });
    }
  };
  const field = (name: string) => ({
    id: `${id}-${name}`,
    autocomplete: 'off',
    'aria-invalid': wrong?.field === name,
    'aria-describedby': wrong?.field === name ? `${id}-wrong` : undefined,
  });
  return (
    <form
      class="key-form"
      noValidate
      aria-labelledby={`${id}-title`}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <h3 id={`${id}-title`}>{title}</h3>
      <label for={`${id}-name`}>{keys.fields.name}</label>
      <input
        ref={first}
        {...field('name')}
        maxLength={64}
        value={draft.name}
        onInput={(event) => set({ name: event.currentTarget.value })}
      />
      {isRestrictable && <Restrictions draft={draft} set={set} field={field} />}
      <label class="check">
        <input
          type="checkbox"
          checked={draft.manage}
          onChange={(event) => set({ manage: event.currentTarget.checked })}
        />
        <span>{keys.fields.rights}</span>
      </label>
      {wrong && (
        <p id={`${id}-wrong`} class="problem" role="alert">
          {wrong.text}
        </p>
      )}
      <div class="together end">
        <button type="button" onClick={cancel}>
          {texts.key.cancel}
        </button>
        <button type="submit" aria-disabled={progress === 'saving'}>
          {progress === 'saving' ? keys.saving : keys.save}
        </button>
      </div>
    </form>
  );
};

interface RestrictionsProps {
  readonly draft: KeyDraft;
  readonly set: (changed: Partial<KeyDraft>) => void;
  /** Returns the attributes of a field with this name. */
  readonly field: (name: string) => { readonly id: string };
}

const Restrictions = ({ draft, set, field }: RestrictionsProps) => {
  const { keys } = useLanguage().texts;
  const labelOf = (name: keyof typeof keys.fields) => <label for={field(name).id}>{keys.fields[name]}</label>;
  return (
    <>
      <p class="muted">{keys.optional}</p>
      <div class="pair">
        <div>
          {labelOf('limit_usd')}
          <input
            {...field('limit_usd')}
            inputMode="decimal"
            value={draft.limit}
            onInput={(event) => set({ limit: event.currentTarget.value })}
          />
        </div>
        <div>
          {labelOf('limit_period')}
          <select
            {...field('limit_period')}
            value={draft.period}
            onChange={({ currentTarget: { value } }) =>
              set({ period: capPeriods.find((period) => period === value) ?? draft.period })
            }
          >
            {capPeriods.map((period) => (
              <option key={period} value={period}>
                {keys.periods[period]}
              </option>
            ))}
          </select>
        </div>
        <div class="whole-row">
          {labelOf('expires_at')}
          <input
            {...field('expires_at')}
            type="datetime-local"
            value={draft.expires}
            onInput={(event) => set({ expires: event.currentTarget.value })}
          />
        </div>
        <div class="whole-row">
          {labelOf('requests_per_second')}
          <input
            {...field('requests_per_second')}
            inputMode="decimal"
            value={draft.rate}
            onInput={(event) => set({ rate: event.currentTarget.value })}
          />
        </div>
      </div>
      {labelOf('models')}
      <input
        {...field('models')}
        placeholder={keys.modelsExample}
        value={draft.models}
        onInput={(event) => set({ models: event.currentTarget.value })}
      />
    </>
  );
};
