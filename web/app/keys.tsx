import { useState } from 'preact/hooks';
import type { Api, ApiError } from './api.ts';
import type { ApiKey, CreatedKey, KeyChange } from './api-shapes.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { IssuedKey } from './issued-key.tsx';
import { draftOf, emptyDraft } from './key-draft.ts';
import { KeyForm } from './key-form.tsx';
import { KeyItem } from './key-item.tsx';
import { isOutdated, keyProblem } from './key-problem.ts';
import { useLanguage } from './language.ts';
import { Section, WhenLoaded } from './section.tsx';
import { type Loaded, toApiError } from './use-loaded.ts';

interface KeysProps {
  readonly api: Api;
  readonly keys: Loaded<readonly ApiKey[]>;
}

type Step =
  | { readonly kind: 'list' }
  | { readonly kind: 'creating' }
  | { readonly kind: 'editing' | 'revoking' | 'busy'; readonly key: ApiKey };

const RESTING: Step = { kind: 'list' };

export const Keys = ({ api, keys }: KeysProps) => {
  const { texts } = useLanguage();
  const [step, setStep] = useState<Step>(RESTING);
  const [created, setCreated] = useState<CreatedKey>();
  const [error, setError] = useState<ApiError>();
  const start = (next: Step): void => {
    setError(undefined);
    setStep(next);
  };
  /** Shows an error here if the list is loaded again, because the form closes then. Otherwise the form shows it. */
  const change = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (thrown) {
      const failure = toApiError(thrown);
      if (!isOutdated(failure) && failure.status !== 0) throw failure;
      setError(failure);
    }
    setStep(RESTING);
    keys.reload();
  };
  const create = (wanted: KeyChange) => change(async () => setCreated(await api.createKey(wanted)));
  const edit = (key: ApiKey, wanted: KeyChange) =>
    change(async () => {
      await api.editKey(key, wanted);
    });
  const revoke = async (key: ApiKey): Promise<void> => {
    setStep({ kind: 'busy', key });
    await change(() => api.revokeKey(key)).catch((failure: unknown) => {
      setError(toApiError(failure));
      setStep(RESTING);
    });
  };
  return (
    <Section id="keys" title={texts.keys.title}>
      {error && (
        <p class="problem" role="alert">
          {keyProblem(error, texts)}
        </p>
      )}
      {created && (
        <IssuedKey
          id="created-key"
          apiKey={created.key}
          title={texts.keys.created(created.name)}
          forget={() => setCreated(undefined)}
        />
      )}
      <WhenLoaded loaded={keys}>{(all) => <KeyList all={all} step={step} start={start} save={edit} />}</WhenLoaded>
      {step.kind === 'creating' ? (
        <KeyForm
          title={texts.keys.newKey}
          before={emptyDraft}
          isRestrictable
          save={create}
          cancel={() => start(RESTING)}
        />
      ) : (
        <button type="button" class="wide" onClick={() => start({ kind: 'creating' })}>
          {texts.keys.create}
        </button>
      )}
      {(step.kind === 'revoking' || step.kind === 'busy') && (
        <ConfirmDialog
          say={{ ...texts.keys.revoking, title: texts.keys.revoking.title(step.key.name) }}
          isBusy={step.kind === 'busy'}
          confirm={() => void revoke(step.key)}
          cancel={() => step.kind === 'revoking' && start(RESTING)}
        />
      )}
    </Section>
  );
};

/** Keys that are shown before the user asks for all. */
const SHOWN = 3;

interface KeyListProps {
  readonly all: readonly ApiKey[];
  readonly step: Step;
  readonly start: (step: Step) => void;
  readonly save: (key: ApiKey, change: KeyChange) => Promise<void>;
}

const KeyList = ({ all, step, start, save }: KeyListProps) => {
  const { texts, count } = useLanguage();
  const [isWhole, setIsWhole] = useState(false);
  const shown = isWhole ? all : all.slice(0, SHOWN);
  if (all.length === 0) return <p class="none">{texts.keys.none}</p>;
  return (
    <>
      <ul class="keys">
        {shown.map((key) => (
          <li key={key.id}>
            {step.kind === 'editing' && step.key.id === key.id ? (
              <KeyForm
                title={texts.keys.editing(key.name)}
                before={draftOf(step.key)}
                isRestrictable={!key.first}
                save={(change) => save(step.key, change)}
                cancel={() => start(RESTING)}
              />
            ) : (
              <KeyItem
                apiKey={key}
                edit={() => start({ kind: 'editing', key })}
                revoke={() => start({ kind: 'revoking', key })}
              />
            )}
          </li>
        ))}
      </ul>
      {shown.length < all.length && (
        <button type="button" class="wide" onClick={() => setIsWhole(true)}>
          {texts.keys.showAll(count(all.length))}
        </button>
      )}
    </>
  );
};
