import { parseUsd } from '../../core/money/usd.ts';
import { createHandler } from '../../http/handler.ts';
import type { BotPorts } from '../../messenger/bot-context.ts';
import { createTakeUpdate } from '../../messenger/update-handler.ts';
import type { Parts } from './dependencies.ts';
import { toHttpPorts } from './http.ts';

export const createBotHandler = (parts: Parts) =>
  createHandler(toHttpPorts(parts), { takeUpdate: createTakeUpdate(toBotPorts(parts)) });

const toBotPorts = (parts: Parts): BotPorts => {
  const { settings, secrets } = parts;
  return {
    ...parts,
    access: secrets.botToken === undefined ? undefined : { botToken: secrets.botToken, apiUrl: settings.BOT_API_URL },
    newAccountId: parts.newRequestId,
    startCreditPicos: parseUsd(settings.START_CREDIT_USD),
    publicUrl: parts.publicUrl,
    topUpText: settings.TOP_UP_TEXT,
    notice: parts.reporting.notice,
  };
};
