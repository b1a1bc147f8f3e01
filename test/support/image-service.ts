import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { measureImage } from '../../lambdas/protocols/image-file.ts';
import { pictureOf } from '../../local/simulators/picture.ts';
import type { TestGateway } from './gateway.ts';

export const png = (width = 1_024, height = 1_024, about = 'a reference'): Buffer =>
  pictureOf({ width, height, about });

export const fileOf = (bytes: Uint8Array, name = 'one.png'): File =>
  new File([Uint8Array.from(bytes)], name, { type: 'image/png' });

const answerSchema = z.strictObject({
  created: z.int(),
  data: z.array(
    z.strictObject({
      url: z.url().optional(),
      b64_json: z.base64().optional(),
      size: z.string().regex(/^\d+x\d+$/),
      generated_size: z
        .string()
        .regex(/^\d+x\d+$/)
        .optional(),
      revised_prompt: z.string().optional(),
    }),
  ),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }).optional(),
});

export type ImagesAnswer = z.infer<typeof answerSchema>;

export const readImages = async (response: Response): Promise<ImagesAnswer> => {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return answerSchema.parse(JSON.parse(text));
};

export const postImages = (
  { url, apiKey }: Pick<TestGateway, 'url' | 'apiKey'>,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(`${url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ prompt: 'A paper boat', ...body }),
  });

/** Returns the bytes of an image from the response, or from its link without a credential. */
export const bytesOf = async ({ url, b64_json: text }: ImagesAnswer['data'][number]): Promise<Buffer> => {
  if (text !== undefined) return Buffer.from(text, 'base64');
  const response = await fetch(url ?? '');
  if (response.status !== 200) throw new Error(`${response.status} ${url}`);
  return Buffer.from(await response.arrayBuffer());
};

export const sizeOf = (bytes: Uint8Array): string | undefined => {
  const found = measureImage(bytes);
  return found && `${found.width}x${found.height}`;
};

const usageRow = z.looseObject({
  outcome: z.string(),
  usage: z.record(z.string(), z.number()).nullable(),
  prices_usd: z.record(z.string(), z.string()).nullable(),
  cost_usd: z.string().nullable(),
});

/** Counts without their own price have the price of this kind. */
const kindOf = (name: string): string => (name === 'reasoning' ? 'output' : 'input');

/** Returns the cost on a receipt in pico-USD. Throws unless it equals its counts times its prices. */
export const receiptOf = async ({ url, apiKey }: TestGateway, requestId: string): Promise<bigint> => {
  const response = await fetch(`${url}/api/usage/${requestId}`, { headers: { authorization: `Bearer ${apiKey}` } });
  const row = usageRow.parse(await response.json());
  const { usage, prices_usd: prices } = row;
  const cost = parseUsd(row.cost_usd ?? '');
  if (row.outcome !== 'charged') return cost;
  const counted = Object.entries(usage ?? {}).reduce(
    (sum, [name, count]) => sum + BigInt(count) * parseUsd(prices?.[name] ?? prices?.[kindOf(name)] ?? '0'),
    0n,
  );
  if (!isDeepStrictEqual(counted, cost)) throw new Error(`${counted} is not ${cost}: ${JSON.stringify(row)}`);
  return cost;
};
