import type * as z from 'zod';
import { type Environment, environmentSchema } from './environment-schema.ts';

export { type Environment, environmentSchema, type FrontDoorName, frontDoors } from './environment-schema.ts';

export const environmentNames = ['dev', 'staging', 'prod'] as const;
export type EnvironmentName = (typeof environmentNames)[number];

/** Returns the prefix of all names in an environment. */
export const prefixOf = (name: string): string => `gateway-${name}`;

/**
 * Validates an environment. Throws an Error with one line per invalid field: its path, with the environment's name if
 * given, and the problem.
 */
export const parseEnvironment = (environment: unknown, name?: string): Environment => {
  const parsed = environmentSchema.safeParse(environment);
  if (parsed.success) return parsed.data;
  const start = name === undefined ? [] : ['environments', name];
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

type Values = z.input<typeof environmentSchema>;

/**
 * Values that differ from the defaults in `environment-schema.ts`. Environments may share an AWS account or have one
 * each. Set `account` of `staging` and `prod` before their first deployment: without it they cannot be deployed.
 */
const values: Readonly<Record<EnvironmentName, Values>> = {
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

/** Validated environments by name. Each is validated on access, so that an error in one does not affect the others. */
export const environments: Readonly<Record<EnvironmentName, Environment>> = {
  get dev() {
    return parseEnvironment(values.dev, 'dev');
  },
  get staging() {
    return parseEnvironment(values.staging, 'staging');
  },
  get prod() {
    return parseEnvironment(values.prod, 'prod');
  },
};
