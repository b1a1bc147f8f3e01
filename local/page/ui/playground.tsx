import { useEffect, useRef, useState } from 'preact/hooks';
import { wordsOf } from './asking.ts';
import { ModePanel } from './mode-panel.tsx';
import { fetchModels, type GatewayModel, type Mode, modeFacts, modelsOf, modes } from './modes.ts';
import type { LocalState, VendorState } from './wire.ts';

interface PlaygroundProps {
  readonly state: LocalState;
  readonly vendors: readonly VendorState[];
  readonly apiKey: string;
  /** Called when the request id is known. */
  readonly onRequest: (id: string | undefined) => void;
  /** Returns the balance after a request. */
  readonly balanceAfter: (requestId: string | undefined) => string | undefined;
}

export const Playground = ({ state: { model_vendors, webhooks }, vendors, ...shared }: PlaygroundProps) => {
  const [mode, setMode] = useState<Mode>('chat');
  const [models, setModels] = useState<readonly GatewayModel[]>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    fetchModels().then(setModels, (error: unknown) => setProblem(wordsOf(error)));
  }, []);
  const vendorOf = (model: string): VendorState | undefined => vendors.find(({ id }) => id === model_vendors[model]);
  return (
    <section class="pane playground" aria-labelledby="playground">
      <h2 id="playground">Playground</h2>
      <Tabs mode={mode} onMode={setMode} />
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {models &&
        modes.map((name) => (
          <ModePanel
            key={name}
            mode={name}
            isShown={name === mode}
            models={modelsOf(name, models)}
            vendorOf={vendorOf}
            inboxUrl={webhooks.inbox_url}
            {...shared}
          />
        ))}
    </section>
  );
};

/** https://www.w3.org/WAI/ARIA/apg/patterns/tabs/: the arrow keys, Home and End move between tabs. */
const Tabs = ({ mode, onMode }: { mode: Mode; onMode: (mode: Mode) => void }) => {
  const list = useRef<HTMLDivElement>(null);
  const index = modes.indexOf(mode);
  const last = modes.length - 1;
  const targets: Readonly<Record<string, number>> = {
    ArrowRight: index === last ? 0 : index + 1,
    ArrowLeft: index === 0 ? last : index - 1,
    Home: 0,
    End: last,
  };
  const move = (event: KeyboardEvent): void => {
    const target = modes[targets[event.key] ?? -1];
    if (target === undefined) return;
    event.preventDefault();
    onMode(target);
    list.current?.querySelector<HTMLElement>(`#tab-${target}`)?.focus();
  };
  return (
    <div role="tablist" aria-label="Mode" class="tabs" ref={list} onKeyDown={move}>
      {modes.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-controls={`panel-${name}`}
          aria-selected={name === mode}
          tabIndex={name === mode ? 0 : -1}
          onClick={() => onMode(name)}
        >
          {modeFacts[name].label}
        </button>
      ))}
    </div>
  );
};
