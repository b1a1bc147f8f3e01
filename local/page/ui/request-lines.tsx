import type { RequestLine } from './wire.ts';

const LINES_SHOWN = 30;

/** Every request, also those that moved no money. */
export const RequestLines = ({ lines }: { lines: readonly RequestLine[] }) => (
  <details class="requests" open>
    <summary>Requests</summary>
    <ol>
      {lines.slice(0, LINES_SHOWN).map(({ at, method, path, status, total_ms }) => (
        <li key={`${at} ${path} ${total_ms}`} class={status >= 400 ? 'bad' : ''}>
          <span>{status}</span> <span class="path">{`${method} ${path}`}</span> <span>{total_ms} ms</span>
        </li>
      ))}
    </ol>
  </details>
);
