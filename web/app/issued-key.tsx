import { useEffect, useRef } from 'preact/hooks';
import { CopyButton } from './copy-button.tsx';
import { useLanguage } from './language.ts';

interface IssuedKeyProps {
  /** Id of the element with the key. */
  readonly id: string;
  readonly apiKey: string;
  readonly title: string;
  readonly forget: () => void;
}

/** Shows an API key that the gateway has returned for the only time. */
export const IssuedKey = ({ id, apiKey, title, forget }: IssuedKeyProps) => {
  const { texts } = useLanguage();
  const shown = useRef<HTMLElement>(null);
  useEffect(() => shown.current?.focus(), []);
  return (
    <section class="issued" ref={shown} tabIndex={-1} aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>{title}</h3>
      <code id={id}>{apiKey}</code>
      <p>{texts.key.once}</p>
      <div class="together">
        <CopyButton text={apiKey} shownIn={id} />
        <button type="button" onClick={forget}>
          {texts.key.done}
        </button>
      </div>
    </section>
  );
};
