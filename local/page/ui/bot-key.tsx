import { useState } from 'preact/hooks';
import { post, wordsOf } from './asking.ts';
import type { KeyCheck } from './check-key.ts';
import { CopyButton } from './copy-button.tsx';

interface BotKeyProps {
  readonly apiKey: string;
  /** Whether the API key is masked, because the program has restarted since the bot sent it. */
  readonly isMasked: boolean;
  readonly check: KeyCheck | undefined;
  /** Undefined while the playground uses this API key. */
  readonly onUse: ((apiKey: string) => void) | undefined;
}

/** Asks for an API key of the messenger's user. It arrives as an event. */
export const askForKey = (): Promise<unknown> => post('/local/bot-key', {});

/** Keeps the bot's API key in view: the bot sends it once, and later messages would hide it. */
export const BotKey = ({ apiKey, isMasked, check, onUse }: BotKeyProps) => {
  const [problem, setProblem] = useState('');
  const replace = (): void => {
    askForKey().then(
      () => setProblem(''),
      (error: unknown) => setProblem(wordsOf(error)),
    );
  };
  const isDead = check?.kind === 'rejected';
  const title = isMasked
    ? 'Your key from the bot, masked after a restart. Replace issues another.'
    : 'Your key from the bot';
  return (
    <section class={`bot-key${isDead ? ' dead' : ''}`} aria-label="Key from the bot">
      <p>{isDead ? 'This key no longer works. Replace it to get one that does.' : title}</p>
      <code>{apiKey}</code>
      <div class="actions">
        {!isDead && !isMasked && <CopyButton label="Copy the bot's key" text={() => apiKey} />}
        {!isDead && !isMasked && onUse && (
          <button type="button" onClick={() => onUse(apiKey)}>
            Use in the playground
          </button>
        )}
        <button type="button" onClick={replace}>
          Replace
        </button>
      </div>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
};
