import { useEffect, useRef, useState } from 'preact/hooks';
import type { Mode } from './modes.ts';
import type { Job, Media, Reading } from './reading.ts';
import { Receipt } from './receipt.tsx';

const milliseconds = (value: number | undefined): string => (value === undefined ? '' : `${Math.round(value)} ms`);

const dollars = (value: string | undefined): string => (value === undefined ? '' : `$${value}`);

const endings: Readonly<Record<Reading['state'], string>> = {
  waiting: 'waiting',
  streaming: 'receiving',
  done: 'done',
  failed: 'failed',
  stopped: 'stopped; the gateway completes the request and charges for it',
};

const hints: Readonly<Record<Mode, string>> = {
  chat: 'The response appears here while it arrives.',
  responses: 'The response appears here while it arrives.',
  images: 'The picture appears here.',
  speech: 'The sound appears here, with a player.',
  video: 'The job and its video appear here. Providers need minutes, a simulated one seconds.',
};

interface AnswerViewProps {
  readonly mode: Mode;
  readonly apiKey: string;
  readonly reading: Reading | undefined;
  /** Balance after the response, from the ledger: a stream does not contain it. */
  readonly balanceUsd: string | undefined;
}

export const AnswerView = ({ mode, apiKey, reading, balanceUsd }: AnswerViewProps) => {
  const isText = mode === 'chat' || mode === 'responses';
  const view = useRef<HTMLDivElement>(null);
  const end = reading?.state;
  useEffect(() => {
    if (end === 'done' || end === 'failed') view.current?.scrollIntoView({ block: 'nearest' });
  }, [end]);
  if (!reading) return <p class="note answer-empty">{hints[mode]} Ctrl+Enter sends.</p>;
  const { state, text, error, job, media, requestId } = reading;
  return (
    <div ref={view} class={`answer ${state}`}>
      {isText && (text !== '' || !error) && (
        <p class="answer-text" aria-live="polite">
          {text}
        </p>
      )}
      {!isText && state === 'waiting' && <div class="placeholder" aria-hidden="true" />}
      {job && <JobView job={job} />}
      {media && <MediaView key={media.url} media={media} />}
      {error && (
        <p class="problem" role="alert">
          <code>{error.code}</code> {error.message}
        </p>
      )}
      <Facts reading={reading} balanceUsd={balanceUsd} />
      {requestId !== undefined && state !== 'waiting' && (
        <Receipt key={`${requestId} ${state}`} requestId={requestId} apiKey={apiKey} />
      )}
    </div>
  );
};

const Facts = ({ reading, balanceUsd }: { reading: Reading; balanceUsd: string | undefined }) => (
  <dl class="facts">
    <Fact name="State" value={endings[reading.state]} />
    <Fact name="Status" value={reading.status?.toString()} />
    <Fact name="Retry-After" value={reading.retryAfter && `${reading.retryAfter} s`} />
    <Fact name="First byte" value={milliseconds(reading.firstByteMs)} />
    <Fact name="Total" value={milliseconds(reading.totalMs)} />
    <Fact name="Tokens" value={reading.usage && `${reading.usage.inputTokens} in, ${reading.usage.outputTokens} out`} />
    <Fact name="Cost" value={dollars(reading.costUsd)} />
    <Fact name="Balance" value={dollars(reading.balanceUsd ?? balanceUsd)} />
    <Fact name="Capped at" value={reading.maxTokens && `${reading.maxTokens} tokens`} />
    {reading.requestId !== undefined && (
      <div class="request-id">
        <dt>Request</dt>
        <dd>
          <a href={`#request-${reading.requestId}`} title="Show in the ledger">
            {reading.requestId}
          </a>
        </dd>
      </div>
    )}
  </dl>
);

const Fact = ({ name, value }: { name: string; value: string | undefined }) =>
  value ? (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  ) : null;

const jobStates: Readonly<Record<Job['status'], string>> = {
  queued: 'queued',
  in_progress: 'in progress',
  completed: 'completed',
  failed: 'failed',
};

const JobView = ({ job: { id, status, progress, size, seconds } }: { job: Job }) => (
  <div class="job" role="status">
    <strong>{jobStates[status]}</strong>
    <span class="note">
      {size}, {seconds} s
    </span>
    <progress
      aria-label="Progress"
      max={100}
      {...(status === 'in_progress' && progress === 0 ? {} : { value: progress })}
    />
    <code>{id}</code>
  </div>
);

const MediaView = ({ media: { kind, url, file } }: { media: Media }) => {
  const [isBroken, setBroken] = useState(false);
  const fail = (): void => setBroken(true);
  return (
    <figure class="media">
      {kind === 'image' && (
        <a href={url} target="_blank" rel="noopener">
          <img src={url} alt="Generated" onError={fail} />
        </a>
      )}
      {/* biome-ignore lint/a11y/useMediaCaption: generated sound has no captions; its text is in the form. */}
      {kind === 'audio' && <audio controls src={url} onError={fail} />}
      {/* biome-ignore lint/a11y/useMediaCaption: generated videos have no captions. */}
      {kind === 'video' && <video controls loop hidden={isBroken} src={url} onError={fail} />}
      {isBroken && (
        <p class="unplayable" role="status">
          The browser cannot play this file. Download it.
        </p>
      )}
      <figcaption class="note">
        {kind === 'image' ? (
          <a href={url} target="_blank" rel="noopener">
            Open in a new tab
          </a>
        ) : (
          <a href={url} download={file}>
            Download
          </a>
        )}
      </figcaption>
    </figure>
  );
};
