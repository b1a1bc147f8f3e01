import { useEffect, useState } from 'preact/hooks';
import { checkServiceSignature, checkSignature, type Verdict } from './webhook-signature.ts';
import type { WebhookDelivery } from './wire.ts';

const classOf = (verdict: Verdict): string => {
  if (verdict === 'valid') return 'verdict valid';
  return verdict === 'not checked' ? 'verdict' : 'verdict invalid';
};

const VerdictView = ({ verdict }: { verdict: Verdict }) => <span class={classOf(verdict)}>{verdict}</span>;

type Check = (delivery: WebhookDelivery, secret: string) => Promise<Verdict>;

const useVerdict = (check: Check, delivery: WebhookDelivery, secret: string): Verdict => {
  const [verdict, setVerdict] = useState<Verdict>('not checked');
  useEffect(() => {
    let isStale = false;
    check(delivery, secret).then((found) => {
      if (!isStale) setVerdict(found);
    }, console.warn);
    return () => {
      isStale = true;
    };
  }, [check, delivery, secret]);
  return verdict;
};

/** Parsed body. Undefined unless it is JSON. */
const parse = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

const typeOf = (event: unknown): string =>
  typeof event === 'object' && event !== null && 'type' in event && typeof event.type === 'string'
    ? event.type
    : 'no event type';

interface DeliveryViewProps {
  readonly delivery: WebhookDelivery;
  /** Signing secret of the account. Empty if it is not known yet. */
  readonly secret: string;
  readonly apiKey: string;
}

/** One delivery: a line, and its headers and body when it is opened. */
export const DeliveryView = ({ delivery, secret, apiKey }: DeliveryViewProps) => {
  const { at, id, attempt, answer, headers, body } = delivery;
  const verdict = useVerdict(checkSignature, delivery, secret);
  const serviceVerdict = useVerdict(checkServiceSignature, delivery, apiKey);
  const event = parse(body);
  return (
    <li class="delivery" data-id={id} data-attempt={attempt}>
      <details>
        <summary>
          <time>{new Date(at).toLocaleTimeString('en-GB')}</time>
          <span class="type">{typeOf(event)}</span>
          <span class="attempt">attempt {attempt}</span>
          <span class={answer === '200' ? 'answered' : 'answered bad'}>
            {answer === 'timeout' ? 'no response' : `returned ${answer}`}
          </span>
          <VerdictView verdict={verdict} />
        </summary>
        <dl class="checks">
          <Fact name="Delivery id" value={id ?? 'missing'} />
          <div>
            <dt>webhook-signature</dt>
            <dd>
              <VerdictView verdict={verdict} />
            </dd>
          </div>
          <div>
            <dt>X-Service-Signature, with the key</dt>
            <dd>
              <VerdictView verdict={serviceVerdict} />
            </dd>
          </div>
        </dl>
        <h3>Headers</h3>
        <dl class="headers">
          {Object.entries(headers).map(([name, value]) => (
            <Fact key={name} name={name} value={value} />
          ))}
        </dl>
        <h3>Body</h3>
        <pre>{event === undefined ? body : JSON.stringify(event, undefined, 2)}</pre>
      </details>
    </li>
  );
};

const Fact = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);
