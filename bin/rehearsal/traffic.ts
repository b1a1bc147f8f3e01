/** A gateway that the rehearsal sends requests to. */
export interface Customer {
  readonly url: string;
  readonly apiKey: string;
}

export interface Reply {
  readonly status: number;
  readonly retryAfter: string | null;
  /** Cost in USD; undefined without a charge. */
  readonly costUsd: string | undefined;
  /** Message of an error. */
  readonly message: string | undefined;
}

const CONCURRENCY = 8;

/** Sends one chat completion. `prompt` may have markers of the simulated provider. */
export const chat = async ({ url, apiKey }: Customer, prompt: string): Promise<Reply> => {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-5.4-mini', messages: [{ role: 'user', content: prompt }] }),
  });
  const { error } = Object(await response.json());
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    costUsd: response.headers.get('x-service-cost-usd') ?? undefined,
    message: error?.message,
  };
};

/** Sends chat completions. Throws an Error unless all succeed. */
export const sendLoad = async (customer: Customer, count: number): Promise<readonly Reply[]> => {
  const replies: Reply[] = [];
  let left = count;
  const sendSome = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      replies.push(await chat(customer, `request ${left} of the rehearsal`));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, sendSome));
  const failed = replies.find(({ status }) => status !== 200);
  if (failed) throw new Error(`A request ended with ${failed.status}: ${failed.message}`);
  return replies;
};

/** Returns status and body of `GET /health`. */
export const health = async ({ url }: Pick<Customer, 'url'>): Promise<string> => {
  const response = await fetch(`${url}/health`);
  return `${response.status} ${await response.text()}`;
};
