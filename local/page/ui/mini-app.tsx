import { useEffect, useRef } from 'preact/hooks';

interface MiniAppProps {
  readonly address: string;
  readonly onClose: () => void;
}

/** Shows the mini app over the chat, as a messenger does. Escape closes it. */
export const MiniApp = ({ address, onClose }: MiniAppProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="mini-app" ref={dialog} onClose={onClose} aria-label="Mini app">
      <div class="chat-head">
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
        <a href={address} target="_blank" rel="noopener">
          Open in a new tab
        </a>
      </div>
      <iframe key={address} src={address} title="Mini app" />
    </dialog>
  );
};
