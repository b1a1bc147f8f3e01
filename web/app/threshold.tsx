import { useState } from 'preact/hooks';
import type { Api, ApiError } from './api.ts';
import type { Account } from './api-shapes.ts';
import { useLanguage } from './language.ts';
import { Problem } from './problem.tsx';
import { Section, WhenLoaded } from './section.tsx';
import { readTypedUsd } from './usd.ts';
import { type Loaded, toApiError } from './use-loaded.ts';

interface ThresholdProps {
  readonly api: Api;
  readonly account: Loaded<Account>;
}

export const Threshold = ({ api, account }: ThresholdProps) => {
  const { texts } = useLanguage();
  const save = async (value: Account, amount: string): Promise<void> => {
    const threshold = await api.setThreshold(amount);
    account.replace({ ...value, threshold_usd: threshold });
  };
  return (
    <Section id="notice" title={texts.threshold.title}>
      <WhenLoaded loaded={account}>
        {(value) => <ThresholdForm current={value.threshold_usd} save={(amount) => save(value, amount)} />}
      </WhenLoaded>
    </Section>
  );
};

interface ThresholdFormProps {
  readonly current: string;
  readonly save: (amount: string) => Promise<void>;
}

type Progress = 'typing' | 'saving' | 'saved' | 'invalid' | ApiError;

const ThresholdForm = ({ current, save }: ThresholdFormProps) => {
  const { texts, language } = useLanguage();
  const { threshold } = texts;
  const [typed, setTyped] = useState<string>();
  const [progress, setProgress] = useState<Progress>('typing');
  const shown = typed ?? (language === 'ru' ? current.replace('.', ',') : current);
  const submit = async (): Promise<void> => {
    const amount = readTypedUsd(shown);
    if (amount === undefined) return setProgress('invalid');
    setProgress('saving');
    try {
      await save(amount);
      setTyped(undefined);
      setProgress('saved');
    } catch (thrown) {
      setProgress(toApiError(thrown));
    }
  };
  return (
    <form
      class="threshold"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label for="threshold">{threshold.label}</label>
      <div class="together">
        <input
          id="threshold"
          inputMode="decimal"
          autocomplete="off"
          value={shown}
          aria-describedby="threshold-hint"
          aria-invalid={progress === 'invalid'}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setProgress('typing');
          }}
        />
        <button type="submit" disabled={progress === 'saving'}>
          {threshold.save}
        </button>
      </div>
      <p id="threshold-hint" class="muted">
        {threshold.hint}
      </p>
      <p class={progress === 'invalid' ? 'wrong' : 'done'} role="status">
        {progress === 'saved' && threshold.saved}
        {progress === 'invalid' && threshold.invalid}
      </p>
      {typeof progress === 'object' && <Problem error={progress} />}
    </form>
  );
};
