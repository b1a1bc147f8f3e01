import { useState } from 'preact/hooks';

interface KeyFieldProps {
  readonly value: string;
  /** The key of this machine's own account. */
  readonly own: string;
  readonly onChange: (key: string) => void;
}

/** The key that the playground asks with: this machine's own, or one that the bot has issued. */
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
