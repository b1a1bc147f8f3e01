import { createRequire } from 'node:module';
import { catalogData } from '../../../catalog/index.ts';
import { loadCatalog } from '../../../lambdas/core/catalog/load-catalog.ts';
import { CatalogError } from '../../../lambdas/core/catalog/load-options.ts';
import { SettingsError } from '../../../lambdas/settings.ts';
import { readLocalSettings } from '../../../local/local-settings.ts';
import { isProductionHost, type Place } from '../../place.ts';
import type { Environment } from '../../terminal.ts';
import { warningsOf } from '../catalog.ts';
import { type Finding, failure, ok, tried, warning } from './finding.ts';

const NODE_VERSION_MIN = 24;

export const checkNode = (version: string): Finding =>
  Number(version.split('.')[0]) >= NODE_VERSION_MIN
    ? ok('node', version)
    : failure(
        'node',
        version,
        `Use Node ${NODE_VERSION_MIN} or later. On linux-x64, npm run uses the Node in node_modules.`,
      );

/** Packages that emulate AWS on this machine, each with the variable that selects another endpoint. */
const emulators = [
  ['@dynoxide/linux-x64/package.json', 'DYNAMODB_ENDPOINT'],
  ['@20minutes/s3rver', 'S3_ENDPOINT'],
  ['aws-local-stepfunctions', undefined],
] as const;

const isInstalled = (name: string): boolean => {
  try {
    return createRequire(import.meta.url).resolve(name) !== '';
  } catch {
    return false;
  }
};

export const checkStandIns = (environment: Environment): Finding => {
  const missing = emulators.filter(([name, variable]) => !(variable && environment[variable]) && !isInstalled(name));
  if (missing.length === 0) return ok('stand-ins', 'all installed');
  const names = missing.map(
    ([name, variable]) => `${name.replace('/package.json', '')}${variable ? ` (or ${variable})` : ''}`,
  );
  return failure('stand-ins', `missing: ${names.join(', ')}`, 'Run npm ci on linux-x64, or set the variables.');
};

export const checkCatalog = (environment: Environment): Promise<Finding> =>
  tried('catalog', 'Run `npm run cli -- catalog check` to see the problems.', async () => {
    try {
      const catalog = loadCatalog(catalogData, { markup: environment.MARKUP || '1' });
      const warnings = warningsOf(catalog).length;
      const detail = `${catalog.entries.length} models`;
      return warnings === 0
        ? ok('catalog', detail)
        : warning(
            'catalog',
            `${detail}, ${warnings} warnings`,
            'Run `npm run cli -- catalog check` to see the warnings.',
          );
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      return failure(
        'catalog',
        `${error.problems.length} problems`,
        'Run `npm run cli -- catalog check` to see the problems.',
      );
    }
  });

/** Checks the settings that the local gateway reads at its start. */
export const checkSettings = ({ environment }: Place): Finding => {
  try {
    return ok('settings', `MODE is ${readLocalSettings(environment).MODE}`);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return failure(
      'settings',
      error.message.replaceAll('\n', ' '),
      'Correct these settings. The gateway does not start with them.',
    );
  }
};

/** Checks the public URLs: the bot shows PUBLIC_URL, and links to images start with MEDIA_URL. */
export const checkAddresses = (place: Place): Finding => {
  const { environment, isLocal } = place;
  const wrong = ['PUBLIC_URL', 'MEDIA_URL'].filter(
    (name) => environment[name] && !isAddress(environment[name], isLocal),
  );
  if (wrong.length > 0) {
    const what = isLocal ? 'a URL without a path' : 'an https URL without a path';
    return failure('addresses', `${wrong.join(', ')}: must each be ${what}`, 'Set each to the URL that clients use.');
  }
  if (environment.PUBLIC_URL) return ok('addresses', environment.PUBLIC_URL);
  if (isProductionHost(place)) {
    return warning(
      'addresses',
      'PUBLIC_URL is not set: links to images work on this machine only',
      'Set it to the URL that clients use.',
    );
  }
  if (isLocal) return ok('addresses', 'PUBLIC_URL is not set: only this machine can reach the gateway');
  return warning(
    'addresses',
    'the public URL is unknown: there is no front door, or it is not deployed yet',
    'Deploy the front door, or set publicUrl in gateway.config.ts. The bot and its webhook use this URL.',
  );
};

const isAddress = (text: string | undefined, isLocal: boolean): boolean => {
  if (text === undefined || !URL.canParse(text)) return false;
  const { protocol, pathname } = new URL(text);
  return pathname === '/' && (protocol === 'https:' || (isLocal && protocol === 'http:'));
};
