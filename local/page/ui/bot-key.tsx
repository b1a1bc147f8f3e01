import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { post, wordsOf } from './asking.ts';
import type { KeyCheck } from './check-key.ts';
import { CopyButton } from './copy-button.tsx';

interface BotKeyProps {
  readonly apiKey: string;
  readonly check: KeyCheck | undefined;
  /** Undefined while the playground uses this API key. */
  readonly onUse: ((apiKey: string) => void) | undefined;
}

/** Asks for an API key of the messenger's user. It arrives as an event. */
export const askForKey = (): Promise<unknown> => post('/local/bot-key', {});

/** Keeps the bot's API key in view: the bot sends it once, and later messages would hide it. */
export const BotKey = ({ apiKey, check, onUse }: BotKeyProps) => {
  const isDead = check?.kind === 'rejected';
  return (
    <section class={`bot-key${isDead ? ' dead' : ''}`} aria-label="Key from the bot">
      <p>{isDead ? 'This key no longer works. Replace it to get one that does.' : 'Your key from the bot'}</p>
      <code>{apiKey}</code>
      <Replace>
        {!isDead && <CopyButton label="Copy the bot's key" text={() => apiKey} />}
        {!isDead && onUse && (
          <button type="button" onClick={() => onUse(apiKey)}>
            Use in the playground
          </button>
        )}
      </Replace>
    </section>
  );
};

/** Shown after a restart of the program, which has no copy of the key that the bot sent before. */
export const MaskedBotKey = ({ masked }: { masked: string }) => (
  <section class="bot-key" aria-label="Key from the bot">
    <p>Your key from the bot, masked after a restart. Replace issues another.</p>
    <code>{masked}</code>
    <Replace />
  </section>
);

/** Actions of the key, and the button that replaces it. */
const Replace = ({ children }: { children?: ComponentChildren }) => {
  const [problem, setProblem] = useState('');
  const replace = (): void => {
    askForKey().then(
      () => setProblem(''),
      (error: unknown) => setProblem(wordsOf(error)),
    );
  };
  return (
    <>
      <div class="actions">
        {children}
        <button type="button" onClick={replace}>
          Replace
        </button>
      </div>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
};
