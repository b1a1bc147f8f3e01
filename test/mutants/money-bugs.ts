import { accountBugs } from './bugs/accounts.ts';
import { capBugs } from './bugs/caps.ts';
import { circuitBugs } from './bugs/circuit.ts';
import { clockBugs } from './bugs/clock.ts';
import { credentialBugs } from './bugs/credentials.ts';
import { creditBugs } from './bugs/credits.ts';
import { dataFolderBugs } from './bugs/data-folder.ts';
import { deploymentBugs } from './bugs/deployment.ts';
import { deploymentCheckBugs } from './bugs/deployment-check.ts';
import { earlyBugs } from './bugs/early.ts';
import { estimateFactorBugs } from './bugs/estimate-factor.ts';
import { frontDoorBugs } from './bugs/front-door.ts';
import { githubRoleBugs } from './bugs/github-roles.ts';
import { imageBugs } from './bugs/images.ts';
import { keyBugs } from './bugs/keys.ts';
import { ledgerBugs } from './bugs/ledger.ts';
import { localProgramBugs } from './bugs/local-program.ts';
import type { MoneyBug } from './bugs/money-bug.ts';
import { namedKeyBugs } from './bugs/named-keys.ts';
import { objectiveBugs } from './bugs/objectives.ts';
import { paidCallBugs } from './bugs/paid-call.ts';
import { priceBugs } from './bugs/prices.ts';
import { publishedPriceBugs } from './bugs/published-prices.ts';
import { requestFieldBugs } from './bugs/request-fields.ts';
import { responsesFieldBugs } from './bugs/responses-fields.ts';
import { restoreBugs } from './bugs/restore.ts';
import { reuseBugs } from './bugs/reuse.ts';
import { signedCallBugs } from './bugs/signed-calls.ts';
import { sqliteLedgerBugs } from './bugs/sqlite-ledger.ts';
import { sqliteRequestBugs } from './bugs/sqlite-requests.ts';
import { storeBugs } from './bugs/stores.ts';
import { uncollectedBugs } from './bugs/uncollected.ts';
import { uncollectedMediaBugs } from './bugs/uncollected-media.ts';
import { usageBugs } from './bugs/usage.ts';
import { usageEventBugs } from './bugs/usage-events.ts';
import { videoBugs } from './bugs/videos.ts';
import { webhookBugs } from './bugs/webhooks.ts';

export type { MoneyBug } from './bugs/money-bug.ts';

/** All seeded mistakes. `npm run test:mutants -- --only <id>` tries one. */
export const moneyBugs: readonly MoneyBug[] = [
  ...ledgerBugs,
  ...paidCallBugs,
  ...earlyBugs,
  ...priceBugs,
  ...keyBugs,
  ...storeBugs,
  ...signedCallBugs,
  ...videoBugs,
  ...imageBugs,
  ...accountBugs,
  ...namedKeyBugs,
  ...frontDoorBugs,
  ...requestFieldBugs,
  ...responsesFieldBugs,
  ...sqliteLedgerBugs,
  ...sqliteRequestBugs,
  ...dataFolderBugs,
  ...localProgramBugs,
  ...publishedPriceBugs,
  ...creditBugs,
  ...estimateFactorBugs,
  ...uncollectedBugs,
  ...uncollectedMediaBugs,
  ...capBugs,
  ...deploymentBugs,
  ...deploymentCheckBugs,
  ...objectiveBugs,
  ...restoreBugs,
  ...githubRoleBugs,
  ...reuseBugs,
  ...usageBugs,
  ...webhookBugs,
  ...circuitBugs,
  ...clockBugs,
  ...credentialBugs,
  ...usageEventBugs,
];

/** Test files that must detect a mistake. */
export const filesOf = ({ caughtBy }: MoneyBug): readonly string[] => [caughtBy].flat();
