import { useEffect, useRef, useState } from 'preact/hooks';
import type { Api, ApiError } from './api.ts';
import type { ApiKey, UsagePage, UsageRow } from './api-shapes.ts';
import { countsText } from './counts.ts';
import { useLanguage } from './language.ts';
import { Problem } from './problem.tsx';
import { Receipt } from './receipt.tsx';
import { Section, WhenLoaded } from './section.tsx';
import { usdText } from './usd.ts';
import { type Loaded, toApiError, useLoaded } from './use-loaded.ts';

interface RequestsProps {
  readonly api: Api;
  readonly keys: Loaded<readonly ApiKey[]>;
  readonly round: number;
}

export const Requests = ({ api, keys, round }: RequestsProps) => {
  const { texts } = useLanguage();
  const first = useLoaded(() => api.usage(undefined), [round]);
  return (
    <Section id="requests" title={texts.requests.title}>
      <WhenLoaded loaded={first} room="tall">
        {(page) => <Pages first={page} api={api} names={new Map(keys.value?.map(({ id, name }) => [id, name]))} />}
      </WhenLoaded>
    </Section>
  );
};

interface PagesProps {
  readonly first: UsagePage;
  readonly api: Api;
  /** Names of API keys by id. */
  readonly names: ReadonlyMap<string, string>;
}

const Pages = ({ first, api, names }: PagesProps) => {
  const { texts, language, count } = useLanguage();
  const [further, setFurther] = useState<readonly UsagePage[]>([]);
  const [progress, setProgress] = useState<'idle' | 'loading' | ApiError>('idle');
  // A page that was requested before a refresh of the list does not belong to the new list.
  const start = useRef(first);
  useEffect(() => {
    start.current = first;
    setFurther([]);
    setProgress('idle');
  }, [first]);
  const rows = [first, ...further].flatMap(({ data }) => data);
  const cursor = (further.at(-1) ?? first).next_cursor;
  const showMore = async (): Promise<void> => {
    if (progress === 'loading') return;
    setProgress('loading');
    const page = await api.usage(cursor ?? undefined).catch(toApiError);
    if (start.current !== first) return;
    setProgress('data' in page ? 'idle' : page);
    if ('data' in page) setFurther((pages) => [...pages, page]);
  };
  if (rows.length === 0) return <p class="muted none">{texts.requests.none}</p>;
  const failed = rows.filter(({ outcome }) => outcome === 'released').length;
  return (
    <>
      <p class="summary">
        <span>{texts.requests.failed(count(failed), usdText('0', { language }))}</span>
        <span class="muted">{texts.requests.failedMeaning}</span>
      </p>
      <ol class="rows">
        {rows.map((row) => (
          <Row key={row.id} row={row} keyName={row.key_id === null ? undefined : names.get(row.key_id)} />
        ))}
      </ol>
      {typeof progress === 'object' && <Problem error={progress} />}
      {cursor !== null && (
        <button type="button" class="wide" aria-disabled={progress === 'loading'} onClick={() => void showMore()}>
          {progress === 'loading' ? texts.loading : texts.requests.more}
        </button>
      )}
    </>
  );
};

interface RowProps {
  readonly row: UsageRow;
  readonly keyName: string | undefined;
}

const Row = ({ row, keyName }: RowProps) => {
  const { outcome, reason, model, usage, cost_usd, created_at } = row;
  const spoken = useLanguage();
  const { requests } = spoken.texts;
  const counts = countsText(usage, spoken);
  return (
    <li>
      <details>
        <summary>
          <span class="name">
            {model ?? requests.noModel}
            {outcome === 'released' && <strong class="mark">{requests.failedMark}</strong>}
          </span>
          <span class="cost">{cost_usd === null ? requests.unfinished : usdText(cost_usd, spoken)}</span>
          <span class="facts muted">
            <time dateTime={created_at}>{spoken.time(created_at)}</time>
            {counts && <span>{counts}</span>}
            {outcome === 'released' && reason && <code>{reason}</code>}
          </span>
        </summary>
        <Receipt row={row} keyName={keyName} />
      </details>
    </li>
  );
};
