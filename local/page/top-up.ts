import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { signBody } from '../../lambdas/core/signature.ts';

export const topUpSchema = z.strictObject({
  account: z.string().min(1).max(200),
  amount_usd: z.string().max(40),
  ref: z.string().min(1).max(200).optional(),
});

export type TopUpReply = { readonly status: number; readonly body: unknown };

/** Reports a payment to the gateway as a payment provider does (KEY-6). Returns the gateway's response. */
export async function topUp(
  url: string,
  topUpKey: string,
  { account, amount_usd, ref = `local-${randomUUID()}` }: z.output<typeof topUpSchema>,
): Promise<TopUpReply> {
  const body = JSON.stringify({ account, ref, amount_usd });
  const response = await fetch(`${url}/app/credits`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-signature': signBody(topUpKey, body, Math.floor(Date.now() / 1_000)),
    },
    body,
  });
  return { status: response.status, body: await response.json() };
}
