import { useLayoutEffect, useRef } from 'preact/hooks';
import { useLanguage } from './language.ts';

interface ConfirmDialogProps {
  readonly isBusy: boolean;
  readonly confirm: () => void;
  /** Has no effect while the dialog is busy. */
  readonly cancel: () => void;
}

/** Modal while it is rendered. The browser keeps the focus inside and restores it at the end. */
export const ConfirmDialog = ({ isBusy, confirm, cancel }: ConfirmDialogProps) => {
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
      <h2 id="confirm-title">{key.confirmTitle}</h2>
      <p id="confirm-text">{key.confirm}</p>
      <div class="together end">
        <button type="button" aria-disabled={isBusy} onClick={cancel}>
          {key.cancel}
        </button>
        <button type="button" class="danger" aria-disabled={isBusy} onClick={() => !isBusy && confirm()}>
          {isBusy ? key.busy : key.yes}
        </button>
      </div>
    </dialog>
  );
};
