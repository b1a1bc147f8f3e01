import { useEffect, useRef, useState } from 'preact/hooks';
import { AnswerView } from './answer-view.tsx';
import { type ApiRequest, buildRequest, toCurl } from './build-request.ts';
import { CopyButton } from './copy-button.tsx';
import { ModeFields } from './mode-fields.tsx';
import { ModelField } from './model-field.tsx';
import { firstModelOf, type GatewayModel, type Mode } from './modes.ts';
import type { Reading } from './reading.ts';
import { runRequest } from './run-request.ts';
import type { VendorState } from './wire.ts';

interface ModePanelProps {
  readonly mode: Mode;
  readonly isShown: boolean;
  /** Models of this mode. */
  readonly models: readonly GatewayModel[];
  readonly vendorOf: (model: string) => VendorState | undefined;
  readonly apiKey: string;
  readonly inboxUrl: string;
  /** Called when the request id is known. */
  readonly onRequest: (id: string | undefined) => void;
  /** Returns the balance after a request. */
  readonly balanceAfter: (requestId: string | undefined) => string | undefined;
}

/** Form and response of one mode. A hidden panel keeps both, and its request continues. */
export const ModePanel = (props: ModePanelProps) => {
  const { mode, isShown, models, vendorOf, apiKey, inboxUrl, onRequest, balanceAfter } = props;
  const [modelId, setModelId] = useState(firstModelOf(models)?.id ?? '');
  const form = useRef<HTMLFormElement>(null);
  const { reading, isBusy, send, stop } = useRun(mode, apiKey, onRequest);
  const model = models.find(({ id }) => id === modelId);
  const request = (): ApiRequest => buildRequest(mode, modelId, readForm(form.current));
  return (
    <div role="tabpanel" id={`panel-${mode}`} aria-labelledby={`tab-${mode}`} hidden={!isShown} class="mode-panel">
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy && model) send(request());
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
        }}
      >
        <ModelField id={`model-${mode}`} models={models} value={modelId} onChange={setModelId} />
        <VendorNote vendor={vendorOf(modelId)} />
        {model && <ModeFields key={mode} mode={mode} model={model} inboxUrl={inboxUrl} />}
        <div class="actions">
          <button type="submit" class="main" disabled={isBusy || !model}>
            Send
          </button>
          <button type="button" disabled={!isBusy} onClick={stop}>
            Stop
          </button>
          <CopyButton label="Copy as curl" text={() => toCurl(location.origin, apiKey, request())}>
            Copy as curl
          </CopyButton>
        </div>
      </form>
      <AnswerView mode={mode} apiKey={apiKey} reading={reading} balanceUsd={balanceAfter(reading?.requestId)} />
    </div>
  );
};

/** One request of a mode at a time. */
const useRun = (mode: Mode, key: string, onRequest: ModePanelProps['onRequest']) => {
  const [reading, setReading] = useState<Reading>();
  const running = useRef<AbortController>(undefined);
  const file = reading?.media?.url;
  useEffect(
    () => () => {
      if (file?.startsWith('blob:')) URL.revokeObjectURL(file);
    },
    [file],
  );
  const send = (request: ApiRequest): void => {
    const stopper = new AbortController();
    running.current = stopper;
    setReading({ state: 'waiting', text: '' });
    onRequest(undefined);
    const onChange = (change: Partial<Reading>): void => {
      if (change.requestId) onRequest(change.requestId);
      setReading((known) => known && { ...known, ...change });
    };
    runRequest({ mode, request, key, signal: stopper.signal, onChange });
  };
  const isBusy = reading?.state === 'waiting' || reading?.state === 'streaming';
  return { reading, isBusy, send, stop: () => running.current?.abort() };
};

/** Names the provider of the model, and says whether it fails. */
const VendorNote = ({ vendor }: { vendor: VendorState | undefined }) => {
  if (!vendor) return null;
  const who = vendor.is_simulated ? `${vendor.name}, simulated` : `${vendor.name}, real`;
  return (
    <p class="note">
      Provider: {who}
      {vendor.fault !== 'none' && <strong class="bad"> (fails: {vendor.fault})</strong>}
    </p>
  );
};

/** A disabled field is not in the form data. */
const readForm = (form: HTMLFormElement | null): Readonly<Record<string, string>> => {
  const fields = [...new FormData(form ?? undefined)];
  return Object.fromEntries(fields.map(([name, value]) => [name, value.toString().trim()]));
};
