import { useState } from 'preact/hooks';

interface CopyButtonProps {
  /** Called at the click. */
  readonly text: () => string;
  readonly label: string;
  /** Visible text of the button. */
  readonly children?: string;
  readonly disabled?: boolean;
}

export const CopyButton = ({ text, label, children = 'Copy', disabled = false }: CopyButtonProps) => {
  const [outcome, setOutcome] = useState<string>();
  const show = (shown: string): void => {
    setOutcome(shown);
    setTimeout(() => setOutcome(undefined), 2_000);
  };
  const copy = (): void => {
    navigator.clipboard.writeText(text()).then(
      () => show('Copied'),
      () => show('Not allowed'),
    );
  };
  return (
    <button
      type="button"
      class="copy"
      aria-label={outcome ? `${label}: ${outcome}` : label}
      disabled={disabled}
      onClick={copy}
    >
      {outcome ?? children}
    </button>
  );
};
