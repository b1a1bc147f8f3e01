import type { NotificationSender } from '../lambdas/core/accounts/send-notifications.ts';
import type { FunctionDependencies, Reporting } from '../lambdas/functions/wiring/dependencies.ts';
import type { DataFolder } from './data-folder.ts';
import type { LocalWebhooks } from './local-webhooks.ts';
import type { LedgerFeed } from './page/ledger-feed.ts';
import type { LocalPages } from './pages.ts';
import type { UsageReceiver } from './usage-delivery.ts';
import type { Emulator } from './welcome.ts';

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface EngineOptions {
  readonly folder: DataFolder;
  readonly reporting: Reporting;
  /** Environment variables of the functions. */
  readonly environment: Environment;
  readonly pages: LocalPages;
  /** Replaces the rules for public webhook URLs in development (HOOK-4). */
  readonly webhooks?: LocalWebhooks | undefined;
  /** Logs one line for the operator. */
  readonly onFailure: (message: string) => void;
}

export interface Followers {
  /** Called with each write of an account, of this process or another. */
  readonly onChange?: LedgerFeed | undefined;
  /** Sends notifications of low balances. Undefined without a bot. */
  readonly sendNotification?: NotificationSender | undefined;
  /** Receives usage events. Undefined without an endpoint. */
  readonly usage?: UsageReceiver | undefined;
}

/** A place where the gateway keeps everything: embedded stores, or emulators of the AWS services. */
export interface Engine {
  readonly deps: FunctionDependencies;
  readonly emulators: readonly Emulator[];
  /** Follows the changes of accounts until `stop`. */
  follow(followers: Followers): Promise<void>;
  /** Removes what has expired. Called about once a minute. */
  prune(): Promise<void>;
  stop(): Promise<void>;
}
