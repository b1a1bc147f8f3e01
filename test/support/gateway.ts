import { balanceOf, heldOf } from '../../lambdas/core/ledger/account.ts';
import type { PageFile } from '../../lib/pages/build-pages.ts';
import { type Environment, until } from './gateway-process.ts';
import { type MemoryGateway, startMemoryGateway } from './memory-gateway.ts';
import { type ProgramOptions, startProgram, type TestProgram } from './program.ts';

export interface GatewayOptions {
  /** URL of the server that plays the providers, without a path. */
  readonly vendorUrl: string;
  /** Settings of the functions, and `LOCAL_BALANCE_USD`, the first balance. */
  readonly environment?: Environment;
  /** Clock in Unix ms. By default it starts at TEST_DAY. */
  readonly now?: () => number;
  /** Built pages for a browser. By default a page is a stub. */
  readonly pages?: readonly PageFile[];
}

/** Amounts are pico-USD. */
export interface TestAccount {
  readonly balance: bigint;
  readonly available: bigint;
  readonly held: bigint;
  readonly openHolds: number;
}

/** A running gateway and one account of it. */
export interface TestGateway {
  readonly url: string;
  readonly apiKey: string;
  /** Model of a chat that names none. By default MODEL. */
  readonly model?: string;
  /** The gateway's clock, Unix ms. */
  now(): number;
  account(): Promise<TestAccount>;
  /** The account once it holds no money. */
  untilSettled(): Promise<TestAccount>;
  /** Everything the gateway has logged. */
  output(): string;
  stop(): Promise<void>;
}

export type TestMemoryGateway = TestGateway & Omit<MemoryGateway, keyof TestGateway> & { readonly accountId: string };

/**
 * Starts a gateway with an account of its own. On stores in memory, the default, it runs in this process. A suite that judges
 * an engine says `stores: 'engine'` and gets `bin/local.ts` as a process.
 */
export function startGateway(options: ProgramOptions & { readonly stores: 'engine' }): Promise<TestProgram>;
export function startGateway(options: GatewayOptions): Promise<TestMemoryGateway>;
export function startGateway(
  options: GatewayOptions & { readonly stores?: 'engine' },
): Promise<TestProgram | TestMemoryGateway> {
  return options.stores === 'engine' ? startProgram(options) : startInMemory(options);
}

const startInMemory = async ({
  vendorUrl,
  environment = {},
  now,
  pages,
}: GatewayOptions): Promise<TestMemoryGateway> => {
  const { LOCAL_BALANCE_USD: balanceUsd = '10', ...settings } = environment;
  const gateway = await startMemoryGateway({ vendorUrl, environment: settings, now, pages });
  return { ...gateway, ...(await openAccount(gateway, balanceUsd)) };
};

const openAccount = async (gateway: MemoryGateway, balanceUsd: string) => {
  const { accountId, apiKey } = await gateway.issue({ balanceUsd });
  const account = async (): Promise<TestAccount> => {
    const found = await gateway.ledger.readAccount(accountId);
    if (!found) throw new Error(`there is no account ${accountId}`);
    const { availablePicos: available, holds } = found;
    return { balance: balanceOf(found), available, held: heldOf(found), openHolds: holds.size };
  };
  const untilSettled = (): Promise<TestAccount> =>
    until('the end of every hold', async () => {
      const now = await account();
      return now.openHolds === 0 ? now : undefined;
    });
  return { accountId, apiKey, account, untilSettled };
};
