import { useState } from 'preact/hooks';

interface KeyFieldProps {
  readonly value: string;
  /** Key of the local account. */
  readonly own: string;
  readonly onChange: (key: string) => void;
}

/** Key of the playground: the local one, or one that the bot has created. */
export const KeyField = ({ value, own, onChange }: KeyFieldProps) => {
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    navigator.clipboard.writeText(value).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <div class="key">
      <label for="key">Key</label>
      <input
        id="key"
        spellcheck={false}
        autocomplete="off"
        value={value}
        onInput={({ currentTarget }) => {
          setCopied(false);
          onChange(currentTarget.value.trim());
        }}
      />
      <button type="button" onClick={copy}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
      {value !== own && (
        <button type="button" onClick={() => onChange(own)}>
          Own key
        </button>
      )}
    </div>
  );
};
