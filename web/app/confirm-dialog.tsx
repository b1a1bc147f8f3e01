import { useLayoutEffect, useRef } from 'preact/hooks';
import { useLanguage } from './language.ts';

interface ConfirmTexts {
  readonly title: string;
  readonly text: string;
  readonly yes: string;
  readonly busy: string;
}

interface ConfirmDialogProps {
  readonly say: ConfirmTexts;
  readonly isBusy: boolean;
  readonly confirm: () => void;
  /** Has no effect while the dialog is busy. */
  readonly cancel: () => void;
}

/** Modal while it is rendered. The browser keeps the focus inside and restores it at the end. */
export const ConfirmDialog = ({ say, isBusy, confirm, cancel }: ConfirmDialogProps) => {
  const { key } = useLanguage().texts;
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="confirm-title"
      aria-describedby="confirm-text"
      onCancel={(event) => {
        event.preventDefault();
        cancel();
      }}
      onClose={cancel}
    >
      <h2 id="confirm-title">{say.title}</h2>
      <p id="confirm-text">{say.text}</p>
      <div class="together end">
        <button type="button" aria-disabled={isBusy} onClick={cancel}>
          {key.cancel}
        </button>
        <button type="button" class="danger" aria-disabled={isBusy} onClick={() => !isBusy && confirm()}>
          {isBusy ? say.busy : say.yes}
        </button>
      </div>
    </dialog>
  );
};
