import { useEffect, useRef, useState } from 'preact/hooks';
import { post, wordsOf } from './asking.ts';
import type { Gateway } from './use-gateway.ts';
import { DeliveryView } from './webhook-delivery.tsx';
import { fetchInbox, fetchSecret, sendTestEvent } from './webhook-requests.ts';
import { keyOfSecret } from './webhook-signature.ts';
import { type InboxAnswer, type InboxState, inboxAnswers, type WebhookSwitch } from './wire.ts';

const namesOfAnswers: Readonly<Record<InboxAnswer, string>> = {
  '200': '200, accept',
  '500': '500, fail',
  timeout: 'no response, time out',
};

const emptyInbox: InboxState = { answer: '200', deliveries: [] };

/** Follows the inbox. Reads it again after a change, and after a new connection to the program. */
const useInbox = ({ inboxChange, isConnected }: Gateway): InboxState => {
  const [inbox, setInbox] = useState(emptyInbox);
  useEffect(() => {
    const stopper = new AbortController();
    const warn = (error: unknown): void => {
      if (!stopper.signal.aborted) console.warn(error);
    };
    fetchInbox(stopper.signal).then(setInbox, warn);
    return () => stopper.abort();
  }, [inboxChange, isConnected]);
  return inbox;
};

interface SecretState {
  readonly value: string;
  readonly note: string;
  readonly paste: (text: string) => void;
  readonly read: () => void;
}

/**
 * Secret that checks the signatures, in the memory of this tab only. Reads it with the key when the first delivery
 * arrives, unless the user has pasted one.
 */
const useSecret = (apiKey: string, isNeeded: boolean): SecretState => {
  const [value, setValue] = useState('');
  const [note, setNote] = useState('');
  const [isPasted, setPasted] = useState(false);
  const [wanted, setWanted] = useState(0);
  useEffect(() => {
    if (isPasted || !(isNeeded || wanted > 0) || !/^sk-service-\w{49}$/.test(apiKey)) return;
    let isStale = false;
    const show = (secret: string, problem: string): void => {
      if (isStale) return;
      setValue(secret);
      setNote(problem);
    };
    fetchSecret(apiKey).then(
      (secret) => show(secret, ''),
      (error: unknown) => show('', wordsOf(error)),
    );
    return () => {
      isStale = true;
    };
  }, [apiKey, isNeeded, isPasted, wanted]);
  return {
    value,
    note,
    paste(text) {
      setPasted(true);
      setValue(text);
      setNote(text === '' || keyOfSecret(text) ? '' : 'Secret: must be whsec_ and base64. Copy it from the response.');
    },
    read() {
      setPasted(false);
      setWanted((count) => count + 1);
    },
  };
};

interface WebhookInboxProps {
  readonly webhooks: WebhookSwitch;
  readonly apiKey: string;
  readonly gateway: Gateway;
}

/** Shows the webhooks that this machine receives, and checks their signatures (HOOK-4). */
export const WebhookInbox = ({ webhooks, apiKey, gateway }: WebhookInboxProps) => {
  const { answer, deliveries } = useInbox(gateway);
  const secret = useSecret(apiKey, deliveries.length > 0);
  const [outcome, setOutcome] = useState('');
  const run = (work: Promise<unknown>, done = ''): void => {
    work.then(
      (words) => setOutcome(typeof words === 'string' ? words : done),
      (error: unknown) => setOutcome(wordsOf(error)),
    );
  };
  const sendTest = (): void => {
    setOutcome('Sending');
    run(sendTestEvent(apiKey, webhooks.inbox_url));
  };
  return (
    <section class="pane inbox" aria-labelledby="webhook-inbox">
      <h2 id="webhook-inbox">Webhook inbox</h2>
      <InboxUrl webhooks={webhooks} />
      <div class="inbox-bar">
        <button type="button" class="main" onClick={sendTest}>
          Send test event
        </button>
        <AnswerField value={answer} onChange={(value) => run(post('/local/webhooks/answer', { answer: value }))} />
        <button
          type="button"
          disabled={deliveries.length === 0}
          onClick={() => run(post('/local/webhooks/clear', {}), 'The inbox is empty.')}
        >
          Clear
        </button>
        <span class="note" role="status">
          {outcome}
        </span>
      </div>
      <SecretField secret={secret} />
      {deliveries.length === 0 && <p class="note">Each delivery appears here.</p>}
      <ol class="deliveries">
        {deliveries.map((delivery) => (
          <DeliveryView key={delivery.number} delivery={delivery} secret={secret.value} apiKey={apiKey} />
        ))}
      </ol>
    </section>
  );
};

const InboxUrl = ({ webhooks: { inbox_url, other_ports } }: { webhooks: WebhookSwitch }) => {
  const field = useRef<HTMLInputElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    field.current?.select();
    navigator.clipboard.writeText(inbox_url).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <>
      <div class="inbox-bar">
        <label for="inbox-url">URL</label>
        <input id="inbox-url" ref={field} readOnly value={inbox_url} />
        <button type="button" onClick={copy}>
          {isCopied ? 'Copied' : 'Copy URL'}
        </button>
      </div>
      <p class="note">
        Send this URL as <code>webhook_url</code> of a video, or check the box in the mode Video. The gateway reports
        here when the video is completed or has failed.{' '}
        {other_ports ? (
          'LOCAL_WEBHOOKS is on: other ports of this machine receive webhooks, too.'
        ) : (
          <>
            To receive webhooks on a server of yours on this machine, start with{' '}
            <code>LOCAL_WEBHOOKS=on npm start</code>.
          </>
        )}
      </p>
    </>
  );
};

const AnswerField = ({ value, onChange }: { value: InboxAnswer; onChange: (answer: InboxAnswer) => void }) => (
  <label class="inline">
    Respond to the next deliveries with
    <select
      value={value}
      onChange={({ currentTarget }) => onChange(inboxAnswers.find((one) => one === currentTarget.value) ?? '200')}
    >
      {inboxAnswers.map((one) => (
        <option key={one} value={one}>
          {namesOfAnswers[one]}
        </option>
      ))}
    </select>
  </label>
);

const SecretField = ({ secret: { value, note, paste, read } }: { secret: SecretState }) => (
  <div class="inbox-bar">
    <label for="inbox-secret">Signing secret</label>
    <input
      id="inbox-secret"
      spellcheck={false}
      autocomplete="off"
      placeholder="whsec_"
      value={value}
      onInput={({ currentTarget }) => paste(currentTarget.value.trim())}
    />
    <button type="button" onClick={read}>
      Read with the key
    </button>
    {note && (
      <span class="problem" role="alert">
        {note}
      </span>
    )}
  </div>
);
