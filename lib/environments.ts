import type * as z from 'zod';
import type { EnvironmentOptions } from './environment-options.ts';
import { type Environment, environmentSchema } from './environment-schema.ts';

export { type Environment, environmentSchema, type FrontDoorName, frontDoors } from './environment-schema.ts';

export const environmentNames = ['dev', 'staging', 'prod'] as const;
export type EnvironmentName = (typeof environmentNames)[number];

/** Returns the prefix of all names in an environment. */
export const prefixOf = (name: string): string => `gateway-${name}`;

const NAME_LENGTH_MAX = 16;

/** Returns the problem of an environment's name, which is a part of every name in AWS. Undefined: the name is valid. */
export const environmentNameProblem = (name: string): string | undefined =>
  /^[a-z][a-z0-9-]*$/.test(name) && name.length <= NAME_LENGTH_MAX
    ? undefined
    : `must start with a letter and have at most ${NAME_LENGTH_MAX} characters of a to z, 0 to 9 and -. It is "${name}"`;

/**
 * Validates an environment. Throws an Error with one line per invalid field: its path below `parent`, if given, and the
 * problem.
 */
export const parseEnvironment = (environment: unknown, parent?: string): Environment => {
  const parsed = environmentSchema.safeParse(environment);
  if (parsed.success) return parsed.data;
  const start = parent === undefined ? [] : [parent];
  const lines = parsed.error.issues.flatMap(toProblems);
  throw new Error(lines.map(({ path, message }) => `${[...start, ...path].join('.')}: ${message}`).join('\n'));
};

interface Problem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Fields of earlier releases, each with its replacement. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['alarmAddresses', 'replaced. Move the addresses to alarms.page.mail and alarms.ticket.mail'],
]);

const toProblems = (issue: z.core.$ZodIssue): readonly Problem[] => {
  const { path, message } = issue;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: renamed.get(key) ?? 'unknown field. Remove it or correct its name',
    }));
  return [{ path, message }];
};

/** Content of `gateway.config.ts`. */
export interface GatewayConfig {
  /**
   * Environments by name: 1 to 16 characters of a to z, 0 to 9 and -. The stacks of one are called `gateway-<name>-...`.
   */
  readonly environments: Readonly<Record<string, EnvironmentOptions>>;
}

/** Returns the config unchanged. Gives `gateway.config.ts` its type: `export default defineConfig({ environments })`. */
export const defineConfig = <Config extends GatewayConfig>(config: Config): Config => config;

/**
 * Environments without a `gateway.config.ts`, and values to start from in one. They differ from the defaults in
 * `environment-schema.ts`. Environments may share an AWS account or have one each. `staging` and `prod` cannot be
 * deployed until a `gateway.config.ts` sets their `account`.
 */
export const defaultEnvironments: Readonly<Record<EnvironmentName, EnvironmentOptions>> = {
  /**
   * Disposable environment: of its data, `cdk destroy 'dev/*'` leaves only the media bucket, which is always retained.
   */
  dev: {
    region: 'us-east-1',
    // Accepts every account, because each developer may have one. Set the number to accept only that one.
    account: 'any',
    logRetentionDays: 7,
    keepsData: false,
    terminationProtection: false,
    markup: '1',
    // About 70 USD of this are fixed costs without requests.
    budgetUsdPerMonth: 100,
  },
  /**
   * Same as `prod` except for shorter log retention and a smaller budget, so that a deployment here predicts one there.
   */
  staging: {
    region: 'us-east-1',
    logRetentionDays: 30,
    keepsData: true,
    terminationProtection: true,
    markup: '1',
    canary: true,
    textShift: 'canary',
    rollbackMinutes: 10,
    budgetUsdPerMonth: 200,
  },
  /**
   * Reserves no concurrency: a new AWS account may run ten functions concurrently and can reserve none of them. After
   * AWS raises the quota "Concurrent executions", set `reservedConcurrency` for the functions that earn money.
   */
  prod: {
    region: 'us-east-1',
    logRetentionDays: 365,
    keepsData: true,
    terminationProtection: true,
    markup: '1',
    canary: true,
    textShift: 'canary',
    rollbackMinutes: 10,
    budgetUsdPerMonth: 2_000,
  },
};

/** Validated default environments by name. Each is validated on access, so that an error in one does not affect the others. */
export const environments: Readonly<Record<EnvironmentName, Environment>> = {
  get dev() {
    return parseEnvironment(defaultEnvironments.dev, 'environments.dev');
  },
  get staging() {
    return parseEnvironment(defaultEnvironments.staging, 'environments.staging');
  },
  get prod() {
    return parseEnvironment(defaultEnvironments.prod, 'environments.prod');
  },
};
