import type { KeyCheck } from './check-key.ts';
import { CopyButton } from './copy-button.tsx';
import type { LocalKey } from './wire.ts';

/** Variables of the guides, and those that most clients read. Anthropic's clients add `/v1` themselves. */
export const clientSettings = (origin: string, key: string): string =>
  [
    `export GATEWAY_URL=${origin}`,
    `export GATEWAY_KEY=${key || 'YOUR_API_KEY'}`,
    `export OPENAI_BASE_URL=${origin}/v1`,
    `export OPENAI_API_KEY=${key || 'YOUR_API_KEY'}`,
    `export ANTHROPIC_BASE_URL=${origin}`,
    `export ANTHROPIC_AUTH_TOKEN=${key || 'YOUR_API_KEY'}`,
  ].join('\n');

interface ConnectionProps {
  readonly origin: string;
  readonly value: string;
  readonly localKey: LocalKey;
  /** Undefined until the gateway has responded. */
  readonly check: KeyCheck | undefined;
  readonly onChange: (key: string) => void;
  /** Undefined if the bot is connected to the real messenger. */
  readonly onAskBot: (() => void) | undefined;
}

/** Everything that a client needs: the base URL, the API key, and both as settings. */
export const Connection = ({ origin, value, localKey, check, onChange, onAskBot }: ConnectionProps) => {
  const ownKey = localKey.kind === 'current' ? localKey.value : undefined;
  return (
    <section class="connection" aria-label="Connection">
      <div class="field base-url">
        <label for="base-url">Base URL</label>
        <div class="with-copy">
          <input id="base-url" readOnly value={`${origin}/v1`} />
          <CopyButton label="Copy base URL" text={() => `${origin}/v1`} />
        </div>
      </div>
      <div class="field key">
        <label for="key">API key</label>
        <div class="with-copy">
          <input
            id="key"
            spellcheck={false}
            autocomplete="off"
            placeholder="sk-service-..."
            value={value}
            aria-describedby="key-state"
            onInput={({ currentTarget }) => onChange(currentTarget.value.trim())}
          />
          <CopyButton label="Copy API key" text={() => value} disabled={value === ''} />
          {ownKey !== undefined && value !== ownKey && (
            <button type="button" onClick={() => onChange(ownKey)}>
              Local key
            </button>
          )}
        </div>
      </div>
      <KeyState check={check} isEmpty={value === ''} />
      <details class="settings">
        <summary>Client settings</summary>
        <div class="popover">
          <p class="note">
            Paste into a shell, then start your client. The guides use the first two variables, and most SDKs read the
            others.
          </p>
          <pre>{clientSettings(origin, value)}</pre>
          <div class="actions">
            <CopyButton label="Copy client settings" text={() => clientSettings(origin, value)} />
            <a href="/api-reference/clients">All clients</a>
          </div>
        </div>
      </details>
      {localKey.kind !== 'current' && (value === '' || check?.kind === 'rejected') && (
        <NewKey localKey={localKey} onAskBot={onAskBot} />
      )}
    </section>
  );
};

const KeyState = ({ check, isEmpty }: { check: KeyCheck | undefined; isEmpty: boolean }) => (
  <p id="key-state" class={`key-state ${isEmpty ? 'unfinished' : (check?.kind ?? '')}`} role="status">
    {isEmpty ? 'no key' : stateOf(check)}
  </p>
);

const stateOf = (check: KeyCheck | undefined): string => {
  switch (check?.kind) {
    case 'works':
      return `works: account ${check.numbers.account}`;
    case 'rejected':
      return check.message;
    case 'unfinished':
      return 'not a complete key';
    default:
      return 'checking';
  }
};

const ISSUE = "npm run cli -- keys issue local --reason 'new key'";

interface NewKeyProps {
  readonly localKey: Exclude<LocalKey, { kind: 'current' }>;
  readonly onAskBot: (() => void) | undefined;
}

/** Shown while the first key of the local account does not work: how to get one that does. */
const NewKey = ({ localKey, onAskBot }: NewKeyProps) => (
  <div class="new-key" role="note">
    <p>
      {localKey.kind === 'replaced'
        ? `The first key of the account "local" was replaced by ${localKey.masked}. Paste the new key above, or create another:`
        : 'The key of the account "local" was revoked. Create another, and paste it above:'}
    </p>
    <div class="with-copy">
      <code>{ISSUE}</code>
      <CopyButton label="Copy command" text={() => ISSUE} />
      {onAskBot && (
        <button type="button" onClick={onAskBot}>
          Get a key from the bot
        </button>
      )}
    </div>
  </div>
);
