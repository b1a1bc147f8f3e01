import { randomBytes, randomInt } from 'node:crypto';
import { type DataFolder, readOrCreateSecret } from '../data-folder.ts';
import type { Environment } from '../engine.ts';
import { startMessenger } from '../simulators/messenger/messenger.ts';
import type { Emulator } from '../welcome.ts';
import { createPageMessenger, type PageMessenger } from './page-messenger.ts';

export type OpenMessenger = {
  readonly emulator: Emulator;
  /** What the functions have to know of it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Undefined when the bot is connected to the real messenger. */
  readonly chat: PageMessenger | undefined;
  /** From now on the bot takes its updates there. */
  connect(webhookUrl: string): void;
  stop(): Promise<void>;
};

/** A bot's token in the environment means the real messenger; without one it is played here. */
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

/** `<digits>:<35 letters>`, as the messenger makes them. */
const newBotToken = (): string =>
  `${randomInt(100_000_000, 1_000_000_000)}:${randomBytes(27).toString('base64url').slice(0, 35)}`;
