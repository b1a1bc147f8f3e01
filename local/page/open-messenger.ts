import { randomBytes, randomInt } from 'node:crypto';
import { type DataFolder, readOrCreateSecret } from '../data-folder.ts';
import type { Environment } from '../engine.ts';
import { startMessenger } from '../simulators/messenger/messenger.ts';
import type { Emulator } from '../welcome.ts';
import { createPageMessenger, type PageMessenger } from './page-messenger.ts';

export type OpenMessenger = {
  readonly emulator: Emulator;
  /** Environment variables for the functions. */
  readonly environment: Readonly<Record<string, string>>;
  /** Undefined if the bot is connected to the real messenger. */
  readonly chat: PageMessenger | undefined;
  /** Sends the bot's updates to this URL from now on. */
  connect(webhookUrl: string): void;
  stop(): Promise<void>;
};

/** Uses the real messenger if the environment has a bot token. Otherwise simulates one. */
export async function openMessenger(folder: DataFolder, own: Environment): Promise<OpenMessenger> {
  if (own.BOT_TOKEN) {
    return {
      emulator: ['Messenger', 'real, with your bot; it needs a webhook that it can reach'],
      environment: {},
      chat: undefined,
      connect: () => undefined,
      stop: async () => undefined,
    };
  }
  const botToken = readOrCreateSecret(folder, 'bot-token', newBotToken);
  const messenger = await startMessenger({ botToken });
  return {
    emulator: ['Messenger', 'played by the page above, with a bot of its own'],
    environment: { BOT_TOKEN: botToken, BOT_API_URL: messenger.url },
    chat: createPageMessenger(messenger),
    connect: messenger.connect,
    stop: messenger.stop,
  };
}

/** `<digits>:<35 letters>`, as in the messenger's tokens. */
const newBotToken = (): string =>
  `${randomInt(100_000_000, 1_000_000_000)}:${randomBytes(27).toString('base64url').slice(0, 35)}`;
