import { parseUsd } from '../../core/money/usd.ts';
import { createHandler } from '../../http/handler.ts';
import type { BotDependencies } from '../../messenger/bot-context.ts';
import { createTakeUpdate } from '../../messenger/update-handler.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { toHttpDependencies } from './http.ts';

export const createBotHandler = (deps: FunctionDependencies) =>
  createHandler(toHttpDependencies(deps), { takeUpdate: createTakeUpdate(toBotDependencies(deps)) });

const toBotDependencies = (deps: FunctionDependencies): BotDependencies => {
  const { settings, secrets } = deps;
  return {
    ...deps,
    access: secrets.botToken === undefined ? undefined : { botToken: secrets.botToken, apiUrl: settings.BOT_API_URL },
    newAccountId: deps.newRequestId,
    startCreditPicos: parseUsd(settings.START_CREDIT_USD),
    publicUrl: deps.publicUrl,
    topUpText: settings.TOP_UP_TEXT,
    notice: deps.reporting.notice,
  };
};
