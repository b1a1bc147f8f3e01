import * as z from 'zod';
import { usd } from './forms.ts';

/** BILL-16. */
export const dryRunAnswer = z
  .looseObject({
    object: z.literal('dry_run'),
    model: z.string(),
    hold_usd: usd.describe('What would be held, in USD.'),
    max_tokens: z.int().min(0).nullable().describe('The cap of the answer, or null where an answer has no length.'),
    prices: z.record(z.string(), usd).describe('USD for one of each unit, such as one token.'),
  })
  .meta({ id: 'DryRun', description: 'The answer to `X-Service-Dry-Run: true`, in place of the model’s.' });
