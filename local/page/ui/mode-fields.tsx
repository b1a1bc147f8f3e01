import { type GatewayModel, type Mode, sizesOf } from './modes.ts';

interface ModeFieldsProps {
  readonly mode: Mode;
  readonly model: GatewayModel;
  /** URL of the webhook inbox. */
  readonly inboxUrl: string;
}

const prompts: Readonly<Record<Mode, { readonly label: string; readonly text: string }>> = {
  chat: { label: 'Prompt', text: 'Say hello in three languages.' },
  responses: { label: 'Prompt', text: 'Explain a hold in one sentence.' },
  images: { label: 'Prompt', text: 'A lighthouse at dusk' },
  speech: { label: 'Text', text: 'Good morning. The gateway is ready.' },
  video: { label: 'Prompt', text: 'A paper boat on a pond' },
};

/** Fields of a mode. Their choices come from the model's entry in the gateway's list. */
export const ModeFields = ({ mode, model, inboxUrl }: ModeFieldsProps) => {
  const { label, text } = prompts[mode];
  return (
    <>
      <label>
        {label}
        <textarea name="prompt" rows={2} required defaultValue={text} />
      </label>
      {(mode === 'chat' || mode === 'responses') && <TextFields mode={mode} model={model} />}
      <div class="choices">
        {mode === 'images' && <Choice name="size" label="Size" values={sizesOf(model)} standard="model's default" />}
        {mode === 'speech' && <Choice name="voice" label="Voice" values={model.limits.voices ?? []} />}
        {mode === 'video' && (
          <>
            <Choice name="size" label="Size" values={sizesOf(model)} />
            <Choice name="seconds" label="Seconds" values={model.limits.seconds ?? []} />
          </>
        )}
      </div>
      {mode === 'video' && (
        <label class="inline">
          <input type="checkbox" name="webhook_url" value={inboxUrl} /> Send the webhook to the inbox below
        </label>
      )}
    </>
  );
};

const TextFields = ({ mode, model: { capabilities } }: Pick<ModeFieldsProps, 'mode' | 'model'>) => {
  const label = mode === 'chat' ? 'System prompt' : 'Instructions';
  return (
    <>
      <details>
        <summary>{label}</summary>
        <textarea name="system" rows={2} aria-label={label} />
      </details>
      <div class="options">
        <label class="inline">
          <input type="checkbox" name="stream" defaultChecked disabled={!capabilities.streaming} /> Stream
        </label>
        <label class="inline">
          Temperature
          <input
            type="number"
            name="temperature"
            min="0"
            max="2"
            step="0.1"
            placeholder={capabilities.sampling ? 'default' : 'fixed'}
            disabled={!capabilities.sampling}
          />
        </label>
      </div>
    </>
  );
};

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly values: readonly string[];
  /** Text of the choice that leaves the field out. Without it the first value is chosen. */
  readonly standard?: string;
}

const Choice = ({ name, label, values, standard }: ChoiceProps) => (
  <label>
    {label}
    <select name={name} disabled={values.length === 0}>
      {standard !== undefined && <option value="">{standard}</option>}
      {values.map((value) => (
        <option key={value} value={value}>
          {value}
        </option>
      ))}
    </select>
  </label>
);
