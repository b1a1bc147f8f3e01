import type { Reading } from './ask-model.ts';

const milliseconds = (value: number | undefined): string => (value === undefined ? '' : `${Math.round(value)} ms`);

const dollars = (value: string | undefined): string => (value === undefined ? '' : `$${value}`);

const endings: Readonly<Record<Reading['state'], string>> = {
  waiting: 'waiting',
  streaming: 'streaming',
  done: 'done',
  failed: 'failed',
  stopped: 'stopped; the gateway reads the rest and charges for it',
};

interface AnswerViewProps {
  readonly reading: Reading | undefined;
  /** Balance after the response, from the ledger: a stream does not contain it. */
  readonly balanceUsd: string | undefined;
}

export const AnswerView = ({ reading, balanceUsd }: AnswerViewProps) => {
  if (!reading) return <p class="note answer-empty">The response appears here while it arrives. Ctrl+Enter sends.</p>;
  const { state, text, error } = reading;
  return (
    <div class={`answer ${state}`}>
      {(text !== '' || !error) && (
        <p class="answer-text" aria-live="polite">
          {text}
        </p>
      )}
      {error && (
        <p class="problem" role="alert">
          <code>{error.code}</code> {error.message}
        </p>
      )}
      <dl class="facts">
        <Fact name="State" value={endings[state]} />
        <Fact name="Status" value={reading.status?.toString()} />
        <Fact name="Retry-After" value={reading.retryAfter && `${reading.retryAfter} s`} />
        <Fact name="First byte" value={milliseconds(reading.firstByteMs)} />
        <Fact name="Total" value={milliseconds(reading.totalMs)} />
        <Fact name="Tokens" value={tokens(reading.usage)} />
        <Fact name="Cost" value={dollars(reading.usage?.cost_usd)} />
        <Fact name="Balance" value={dollars(reading.balanceUsd ?? balanceUsd)} />
        <Fact name="Capped at" value={reading.maxTokens && `${reading.maxTokens} tokens`} />
        <Fact name="Request" value={reading.requestId} />
      </dl>
    </div>
  );
};

const tokens = (usage: Reading['usage']): string =>
  usage?.prompt_tokens === undefined ? '' : `${usage.prompt_tokens} in, ${usage.completion_tokens ?? 0} out`;

const Fact = ({ name, value }: { name: string; value: string | undefined }) =>
  value ? (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  ) : null;
