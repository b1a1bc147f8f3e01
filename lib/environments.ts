import type * as z from 'zod';
import { type Environment, environmentSchema } from './environment-schema.ts';

export { type Environment, environmentSchema, type FrontDoorName, frontDoors } from './environment-schema.ts';

export const environmentNames = ['dev', 'staging', 'prod'] as const;
export type EnvironmentName = (typeof environmentNames)[number];

/** What the names of everything of an environment begin with. */
export const prefixOf = (name: string): string => `gateway-${name}`;

/** Throws an Error with one line per field that is wrong, by its path, which begins with the environment's name if it is told. */
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

const toProblems = (issue: z.core.$ZodIssue): readonly Problem[] => {
  const { path, message } = issue;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: [...path, key], message: 'there is no such field' }));
  return [{ path, message }];
};

type Values = z.input<typeof environmentSchema>;

/** What is not said here is as `environment-schema.ts` has it. Each of them may stand in an AWS account of its own, or all in one. */
const values: Readonly<Record<EnvironmentName, Values>> = {
  /** To be thrown away: `cdk destroy 'dev/*'` leaves nothing but the bucket, and that only because it is not empty. */
  dev: {
    region: 'us-east-1',
    logRetentionDays: 7,
    keepsData: false,
    terminationProtection: false,
    markup: '1',
    // What nobody asks anything costs about 60.
    budgetUsdPerMonth: 100,
  },
  /** As `prod` is, so that what goes well here goes well there, but with shorter logs and a smaller budget. */
  staging: {
    region: 'us-east-1',
    logRetentionDays: 30,
    keepsData: true,
    terminationProtection: true,
    markup: '1',
    budgetUsdPerMonth: 200,
  },
  /**
   * Nothing is reserved: a new AWS account may run ten functions at a time, and nothing can be reserved of that. Once its quota
   * "Concurrent executions" is raised, `reservedConcurrency` keeps some for what brings in money.
   */
  prod: {
    region: 'us-east-1',
    logRetentionDays: 365,
    keepsData: true,
    terminationProtection: true,
    markup: '1',
    budgetUsdPerMonth: 2_000,
  },
};

/** Each is checked when somebody asks for it, so that what is wrong in one keeps nobody from another. */
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
