import * as z from 'zod';
import { readBotToken } from '../../../lambdas/functions/wiring/secrets.ts';
import { settingsSchema } from '../../../lambdas/settings.ts';
import { toTime } from '../../account-facts.ts';
import { whyOf } from '../../exit.ts';
import type { Place } from '../../place.ts';
import { type Finding, failure, ok, warning } from './finding.ts';

/** Fields of `getWebhookInfo` that the check reads: https://core.telegram.org/bots/api#webhookinfo */
const replySchema = z.object({
  ok: z.boolean(),
  description: z.string().optional(),
  result: z
    .object({
      url: z.string(),
      pending_update_count: z.number().default(0),
      last_error_date: z.number().optional(),
      last_error_message: z.string().optional(),
    })
    .optional(),
});

type Reply = z.infer<typeof replySchema>;

const CALL_MS = 10_000;
const check = 'webhook';
const setup = 'Run `bot setup`.';

/**
 * Checks that the messenger has the bot's webhook URL, and reports its last delivery error. Undefined without a bot.
 */
export const checkWebhook = async ({ environment }: Place): Promise<Finding | undefined> => {
  const { BOT_TOKEN, BOT_TOKEN_SECRET, PUBLIC_URL } = environment;
  const token = await readBotToken({ BOT_TOKEN, BOT_TOKEN_SECRET }).catch(() => undefined);
  if (!token) return undefined;
  const api = settingsSchema.shape.BOT_API_URL.safeParse(environment.BOT_API_URL || undefined);
  if (!api.success)
    return failure(check, 'BOT_API_URL is not a URL', 'Set it to the base URL of the Bot API, or remove it.');
  try {
    return toFinding(await ask(api.data, token), PUBLIC_URL);
  } catch (error) {
    // The request URL contains the token. Report only the cause, which does not quote the URL.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
    return failure(
      check,
      `the messenger did not respond${cause ? `: ${whyOf(cause)}` : ''}`,
      'Check the network and BOT_API_URL.',
    );
  }
};

const ask = async (api: string, token: string): Promise<Reply> => {
  const address = `${api.replace(/\/+$/, '')}/bot${token}/getWebhookInfo`;
  const response = await fetch(address, { signal: AbortSignal.timeout(CALL_MS) });
  return replySchema.parse(await response.json());
};

const toFinding = ({ result, description }: Reply, publicUrl: string | undefined): Finding => {
  if (!result) return failure(check, `rejected: ${description ?? 'no reason given'}`, 'Check the bot token.');
  const { url, pending_update_count: pending, last_error_message: message, last_error_date: at } = result;
  if (url === '') return failure(check, 'not registered', setup);
  const expected = publicUrl && `${publicUrl.replace(/\/+$/, '')}/bot`;
  if (expected && url !== expected) return failure(check, `registered for ${url} instead of ${expected}`, setup);
  if (message === undefined) return ok(check, `${url}, ${pending} updates pending`);
  const when = at === undefined ? '' : `, ${toTime(at * 1_000)}`;
  return warning(
    check,
    `${url}; last error: ${message}${when}; ${pending} updates pending`,
    'Read the log of the function bot, or of the self-hosted gateway.',
  );
};
