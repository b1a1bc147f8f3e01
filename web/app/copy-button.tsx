import { useState } from 'preact/hooks';
import { useLanguage } from './language.ts';

interface CopyButtonProps {
  readonly text: string;
  /** Id of the element with the text. It is selected if the browser does not allow clipboard access. */
  readonly shownIn: string;
}

export const CopyButton = ({ text, shownIn }: CopyButtonProps) => {
  const { texts } = useLanguage();
  const [told, setTold] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setTold(texts.copied);
    } catch {
      const shown = document.getElementById(shownIn);
      if (shown) getSelection()?.selectAllChildren(shown);
      setTold(texts.copyYourself);
    }
  };
  return (
    <span class="copy">
      <button type="button" onClick={() => void copy()}>
        {texts.copy}
      </button>
      <span class="done" role="status">
        {told}
      </span>
    </span>
  );
};
