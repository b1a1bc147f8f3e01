import type { Command } from 'commander';
import { type Api, GrammyError } from 'grammy/web';
import { updateSecretOf } from '../../lambdas/core/signature.ts';
import { readBotToken } from '../../lambdas/functions/wiring/secrets.ts';
import { appUrlOf } from '../../lambdas/messenger/bot-context.ts';
import { type BotAccess, openApi } from '../../lambdas/messenger/messenger-api.ts';
import { textsFor } from '../../lambdas/messenger/texts/texts.ts';
import { commandNames, type Texts } from '../../lambdas/messenger/texts/words.ts';
import { settingsSchema } from '../../lambdas/settings.ts';
import { type WriteOptions, withWriting } from '../command-options.ts';
import { failed, misused } from '../exit.ts';
import { printFacts } from '../output.ts';
import { readStack } from '../place-stack.ts';
import type { Environment, Terminal } from '../terminal.ts';
import { confirmWrite, printDryRun } from '../writes.ts';

interface SetupOptions extends WriteOptions {
  readonly tokenVariable?: string;
  readonly url?: string;
}

/** Number of updates that the messenger delivers concurrently. */
const CONNECTIONS = 20;

export const addBotCommands = (program: Command, terminal: Terminal): void => {
  const bot = program.command('bot').description('set up the messenger bot');
  withWriting(bot.command('setup').description('register the webhook, commands and app button with the messenger'))
    .option('--token-variable <name>', 'variable that holds the bot token; default: BOT_TOKEN, or the secret of --env')
    .option('--url <url>', 'public URL of the gateway; default: PUBLIC_URL, or the URL of the environment in --env')
    .action(async (options: SetupOptions) => {
      const setup = await readSetup(options, terminal.environment);
      const api = openApi(setup.access);
      const found = await askApi(() => readState(api));
      terminal.status(`bot @${found.bot}, webhook ${found.webhook || 'none'}, ${found.pending} updates pending`);
      if (options.dryRun) printDryRun(terminal);
      else {
        await confirmWrite(terminal, options, `Send the updates of @${found.bot} to ${setup.webhook}?`);
        await askApi(() => write(api, setup));
      }
      await printFacts(terminal, options.json === true, {
        bot: found.bot,
        webhook: setup.webhook,
        webhook_before: found.webhook || null,
        pending_updates: found.pending,
        app: setup.app ?? null,
        commands: [...commandNames],
        languages: languages.map(({ language }) => language),
        changed: !options.dryRun,
      });
    });
};

interface Setup {
  readonly access: BotAccess;
  readonly webhook: string;
  readonly app: string | undefined;
}

const settings = settingsSchema.pick({ BOT_TOKEN: true, BOT_TOKEN_SECRET: true, BOT_API_URL: true, PUBLIC_URL: true });

const readSetup = async ({ env, tokenVariable, url }: SetupOptions, shell: Environment): Promise<Setup> => {
  const named = env ? { ...shell, ...(await readStack(env)) } : shell;
  const own = tokenVariable === undefined ? {} : { BOT_TOKEN: shell[tokenVariable], BOT_TOKEN_SECRET: undefined };
  const given = { ...named, ...own, ...(url === undefined ? {} : { PUBLIC_URL: url }) };
  const parsed = settings.safeParse(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')));
  if (!parsed.success) {
    throw misused(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'));
  }
  const { BOT_API_URL: apiUrl, PUBLIC_URL: publicUrl } = parsed.data;
  if (publicUrl === undefined) throw misused('PUBLIC_URL: not set. Set it, or use --url or --env.');
  const botToken = await readBotToken(parsed.data);
  if (botToken === undefined) {
    throw misused(
      `bot token: not found in ${tokenVariable ?? (env ? 'the secret of this environment' : 'BOT_TOKEN')}. Store it there, or use --token-variable.`,
    );
  }
  const access = { botToken, apiUrl };
  return { access, webhook: `${new URL(publicUrl).origin}/bot`, app: appUrlOf({ publicUrl, access }) };
};

const readState = async (api: Api) => {
  const { username } = await api.getMe();
  const { url = '', pending_update_count: pending } = await api.getWebhookInfo();
  return { bot: username, webhook: url, pending };
};

/** Languages of the command lists. The English list is the default; each other list is for users of that language. */
const languages: readonly Texts[] = [textsFor('en'), textsFor('ru')];

const write = async (api: Api, { access, webhook, app }: Setup): Promise<void> => {
  for (const { language, commands } of languages) {
    const listed = commandNames.map((command) => ({ command, description: commands[command] }));
    const scope = { type: 'all_private_chats' } as const;
    await api.setMyCommands(listed, language === 'en' ? { scope } : { scope, language_code: language });
  }
  if (app) await api.setChatMenuButton({ menu_button: { type: 'web_app', text: 'App', web_app: { url: app } } });
  // Set the webhook last, so that the bot receives updates only after its commands and button are registered.
  await api.setWebhook(webhook, {
    secret_token: updateSecretOf(access.botToken),
    allowed_updates: ['message'],
    max_connections: CONNECTIONS,
    drop_pending_updates: false,
  });
};

/** Replaces the library's errors, because they contain the request and with it the webhook secret. */
const askApi = async <T>(call: () => Promise<T>): Promise<T> => {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof GrammyError))
      throw failed('The Bot API did not respond. Check the network and BOT_API_URL, then run the same command again.');
    throw failed(
      `The Bot API rejected ${error.method}: ${error.error_code} ${error.description}. Check the bot token and the public URL.`,
    );
  }
};
