import type { Command } from 'commander';
import { type ReadOptions, withReading } from '../command-options.ts';
import { unsatisfied, whyOf } from '../exit.ts';
import { plain, printJson } from '../output.ts';
import { openPlace, type Place } from '../place.ts';
import type { Style, Terminal } from '../terminal.ts';
import { checkProbation } from './doctor/account-checks.ts';
import { type Finding, failure } from './doctor/finding.ts';
import { checkAddresses, checkCatalog, checkNode, checkSettings, checkStandIns } from './doctor/machine-checks.ts';
import { checkBotToken, checkPepper, checkProviderKeys, checkTopUpKey } from './doctor/secret-checks.ts';
import {
  checkBucket,
  checkClock,
  checkCredentials,
  checkEmbedded,
  checkLocalClocks,
  checkTables,
} from './doctor/store-checks.ts';
import { checkWebhook } from './doctor/webhook-check.ts';

export const addDoctorCommand = (program: Command, terminal: Terminal): void => {
  withReading(
    program
      .command('doctor')
      .description('check that a gateway has everything it needs, with advice for each problem; exit 1 on a failure'),
  ).action(async (options: ReadOptions) => {
    const findings = await examine(terminal, options);
    const isWell = findings.every(({ status }) => status !== 'failure');
    if (options.json) await printJson(terminal, { ok: isWell, checks: findings });
    else await terminal.print(findings.map((finding) => toLine(finding, terminal)).join(''));
    if (!isWell) throw unsatisfied();
  });
};

const examine = async (terminal: Terminal, options: ReadOptions): Promise<readonly Finding[]> => {
  const first = [checkNode(process.versions.node), await checkCatalog(terminal.environment)];
  let place: Place;
  try {
    place = await openPlace(options, terminal);
  } catch (error) {
    const advice =
      options.env === undefined
        ? 'Start the local gateway, or choose another one with DATA_DIR or --env.'
        : 'Log in, or deploy the environment.';
    return [...first, failure('gateway', whyOf(error), advice)];
  }
  try {
    terminal.status(place.where);
    return [...first, ...(await examinePlace(place))];
  } finally {
    await place.close();
  }
};

const examinePlace = async (place: Place): Promise<readonly Finding[]> => {
  const { environment, isLocal, stores } = place;
  const { aws } = stores;
  const ofStores = aws
    ? [
        isLocal ? checkStandIns(environment) : checkCredentials(aws),
        checkTables(aws, isLocal),
        checkBucket(aws, isLocal),
        checkClock(aws, place),
      ]
    : [checkEmbedded(place), checkLocalClocks(place)];
  const findings = await Promise.all([
    ...ofStores,
    isLocal ? checkSettings(place) : undefined,
    checkAddresses(place),
    checkPepper(place),
    checkTopUpKey(place),
    checkProviderKeys(place),
    checkBotToken(place),
    checkWebhook(place),
    checkProbation(place),
  ]);
  return findings.filter((finding) => finding !== undefined);
};

const styles: Readonly<Record<Finding['status'], Style>> = { ok: 'green', warning: 'yellow', failure: 'red' };

const toLine = ({ check, status, detail, advice }: Finding, { style }: Terminal): string =>
  `${style(styles[status], status.padEnd(7))}  ${check.padEnd(13)}  ${plain(detail)}${advice ? `  -> ${advice}` : ''}\n`;
