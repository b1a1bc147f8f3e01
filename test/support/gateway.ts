import { balanceOf, heldOf } from '../../lambdas/core/ledger/ledger.ts';
import type { PageFile } from '../../lib/pages/build-pages.ts';
import { type Environment, until } from './gateway-process.ts';
import { type InProcessGateway, startInProcess } from './in-process-gateway.ts';
import { type ProgramOptions, startProgram, type TestProgram } from './program.ts';

export interface GatewayOptions {
  /** URL of the server that simulates the providers, without a path. */
  readonly vendorUrl: string;
  /** Settings of the functions, and `LOCAL_BALANCE_USD`, the first balance. */
  readonly environment?: Environment;
  /** Clock in Unix ms. By default it starts at TEST_DAY. */
  readonly now?: () => number;
  /** Built pages for a browser. By default a page is a stub. */
  readonly pages?: readonly PageFile[];
}

/** Balances in pico-USD. */
export interface TestAccount {
  readonly balance: bigint;
  readonly available: bigint;
  readonly held: bigint;
  readonly openHolds: number;
}

/** A running gateway with one account. */
export interface TestGateway {
  readonly url: string;
  readonly apiKey: string;
  /** Model for a chat completion without one. By default MODEL. */
  readonly model?: string;
  /** Returns the gateway's time in Unix ms. */
  now(): number;
  account(): Promise<TestAccount>;
  /** Waits until the account has no holds, and returns it. */
  untilSettled(): Promise<TestAccount>;
  /** Returns everything that the gateway has logged. */
  output(): string;
  stop(): Promise<void>;
}

export type TestInProcessGateway = TestGateway &
  Omit<InProcessGateway, keyof TestGateway> & { readonly accountId: string };

/**
 * Starts a gateway with an account. By default it runs in this process on embedded stores. With `stores: 'engine'` it
 * is `bin/local.ts` in a separate process, for suites that test the program.
 */
export function startGateway(options: ProgramOptions & { readonly stores: 'engine' }): Promise<TestProgram>;
export function startGateway(options: GatewayOptions): Promise<TestInProcessGateway>;
export function startGateway(
  options: GatewayOptions & { readonly stores?: 'engine' },
): Promise<TestProgram | TestInProcessGateway> {
  return options.stores === 'engine' ? startProgram(options) : startHere(options);
}

const startHere = async ({
  vendorUrl,
  environment = {},
  now,
  pages,
}: GatewayOptions): Promise<TestInProcessGateway> => {
  const { LOCAL_BALANCE_USD: balanceUsd = '10', ...settings } = environment;
  const gateway = await startInProcess({ vendorUrl, environment: settings, now, pages });
  return { ...gateway, ...(await openAccount(gateway, balanceUsd)) };
};

const openAccount = async (gateway: InProcessGateway, balanceUsd: string) => {
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
