import { useRef, useState } from 'preact/hooks';
import { AnswerView } from './answer-view.tsx';
import { askModel, type Question, type Reading } from './ask-model.ts';
import { ModelField } from './model-field.tsx';
import type { LocalState, VendorState } from './wire.ts';

/** Names the provider of the model, and says whether it is broken. */
const VendorNote = ({ vendor }: { vendor: VendorState | undefined }) => {
  if (!vendor) return null;
  const who = vendor.is_simulated ? `${vendor.name}, simulated` : `${vendor.name}, real`;
  return (
    <p class="note">
      Provider: {who}
      {vendor.fault !== 'none' && <strong class="bad"> (broken: {vendor.fault})</strong>}
    </p>
  );
};

const FIRST_MODEL = 'gpt-4.1-mini';

interface PlaygroundProps {
  readonly state: LocalState;
  readonly vendors: readonly VendorState[];
  readonly apiKey: string;
  /** Called when the request id is known. */
  readonly onRequest: (id: string | undefined) => void;
  /** Balance after the last request. */
  readonly balanceUsd: string | undefined;
}

export const Playground = ({ state: { models }, vendors, apiKey, onRequest, balanceUsd }: PlaygroundProps) => {
  const [modelId, setModelId] = useState(models.find(({ id }) => id === FIRST_MODEL)?.id ?? models[0]?.id ?? '');
  const [reading, setReading] = useState<Reading>();
  const underWay = useRef<AbortController>(undefined);
  const model = models.find(({ id }) => id === modelId);
  const isBusy = reading?.state === 'waiting' || reading?.state === 'streaming';
  const send = (form: HTMLFormElement): void => {
    if (isBusy || !model) return;
    const stopper = new AbortController();
    underWay.current = stopper;
    setReading({ state: 'waiting', text: '' });
    onRequest(undefined);
    const question = { ...readForm(form), key: apiKey, model: model.id };
    askModel(question, stopper.signal, (change) => {
      if (change.requestId) onRequest(change.requestId);
      setReading((known) => known && { ...known, ...change });
    });
  };
  return (
    <section class="pane playground" aria-labelledby="playground">
      <h2 id="playground">Playground</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send(event.currentTarget);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
        }}
      >
        <ModelField models={models} value={modelId} onChange={setModelId} />
        <VendorNote vendor={vendors.find(({ id }) => id === model?.vendor)} />
        <Fields takesTemperature={model?.takes_temperature ?? false} takesStream={model?.takes_stream ?? false} />
        <div class="actions">
          <button type="submit" class="main" disabled={isBusy}>
            Send
          </button>
          <button type="button" disabled={!isBusy} onClick={() => underWay.current?.abort()}>
            Stop
          </button>
        </div>
      </form>
      <AnswerView reading={reading} balanceUsd={balanceUsd} />
    </section>
  );
};

const Fields = ({ takesTemperature, takesStream }: { takesTemperature: boolean; takesStream: boolean }) => (
  <>
    <label>
      Prompt
      <textarea name="prompt" rows={3} required defaultValue="Say hello in three languages." />
    </label>
    <details>
      <summary>System prompt</summary>
      <textarea name="system" rows={2} aria-label="System prompt" />
    </details>
    <div class="options">
      <label class="inline">
        <input type="checkbox" name="stream" defaultChecked disabled={!takesStream} /> Stream
      </label>
      <label class="inline">
        Temperature
        <input
          type="number"
          name="temperature"
          min="0"
          max="2"
          step="0.1"
          placeholder={takesTemperature ? 'default' : 'fixed'}
          disabled={!takesTemperature}
        />
      </label>
    </div>
  </>
);

/** A disabled field is not in the form data. */
const readForm = (form: HTMLFormElement): Omit<Question, 'key' | 'model'> => {
  const data = new FormData(form);
  const text = (name: string): string => data.get(name)?.toString().trim() ?? '';
  const temperature = text('temperature');
  return {
    prompt: text('prompt'),
    system: text('system'),
    isStreamed: data.has('stream'),
    temperature: temperature === '' ? undefined : Number(temperature),
  };
};
