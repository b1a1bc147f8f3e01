import * as z from 'zod';

/** BILL-16. */
export const dryRunAnswer = z
  .looseObject({
    object: z.literal('dry_run'),
    model: z.string(),
    hold_usd: z.string().describe('What would be held.'),
    max_tokens: z.int().nullable().describe('The cap of the answer, or null where an answer has no length.'),
    prices: z.record(z.string(), z.string()).describe('USD for one of each unit, such as one token.'),
  })
  .meta({ id: 'DryRun', description: 'The answer to `X-Service-Dry-Run: true`, in place of the model’s.' });
