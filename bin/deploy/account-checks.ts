import * as z from 'zod';
import { forEachConcurrent } from '../../lambdas/core/concurrency.ts';
import { EDGE_REGION } from '../../lib/edge/edge-region.ts';
import type { Environment } from '../../lib/environments.ts';
import { CONFIG_FILE } from '../config.ts';
import { assumeRole, missingTypes, type Quota, type RoleCredentials, readBucketKey, readQuota } from './aws-reads.ts';
import type { AssemblyResource, AssemblyStack } from './read-assembly.ts';

/** Stacks of one region, and the credentials of the roles of its CDK bootstrap. */
export interface Site {
  readonly region: string;
  readonly stacks: readonly AssemblyStack[];
  /** Fills the placeholders of a name for the account and the region. */
  fill(name: string): string;
  /** Credentials of an assumed role. Undefined for the rights of the caller. */
  credentialsOf(role: string | undefined): RoleCredentials | undefined;
}

/** Problems of a check, one sentence and a fix each. Throws the error of a failed read. */
type Problems = Promise<readonly string[]>;

/** Checks that CloudFormation knows every resource type of the stacks in their region. */
export const checkTypes = async ({ region, stacks, credentialsOf }: Site): Problems => {
  const types = new Set(stacks.flatMap(({ resources }) => resources.map(({ type }) => type)));
  const own = [...types].filter((type) => type.startsWith('AWS::') && !type.startsWith('AWS::CloudFormation::'));
  const missing = await missingTypes(own, { region, credentials: credentialsOf(stacks[0]?.deployRole) });
  return missing.length === 0
    ? []
    : [`region: ${region} does not offer ${missing.join(', ')}. Choose another region in ${CONFIG_FILE}.`];
};

/** Type of the resource that reads an asset itself. CloudFormation's role reads the others. */
const COPY = 'Custom::S3ObjectCopy';

/** Checks that the copier of code may decrypt the assets. */
export const checkKey = async ({ region, stacks, fill, credentialsOf }: Site, environment: Environment): Problems => {
  const copying = stacks.filter(({ resources }) => resources.some(({ type }) => type === COPY));
  const problems: string[] = [];
  await forEachConcurrent(
    copying.flatMap(({ assetBuckets }) => assetBuckets),
    async ({ bucket, role }) => {
      const key = await readBucketKey(fill(bucket), { region, credentials: credentialsOf(role) });
      if (key === undefined || isKey(key, environment.bootstrapKeyArn)) return;
      problems.push(
        `bootstrapKeyArn: the bucket ${fill(bucket)} is encrypted with the key ${key}. Set bootstrapKeyArn to its ARN in ${CONFIG_FILE}.`,
      );
    },
  );
  return problems;
};

/** Whether an ARN is that of a key, which S3 names by its ARN or its id. The target of an alias is unknown. */
const isKey = (key: string, arn: string | undefined): boolean =>
  arn !== undefined && (arn.endsWith(key) || key.includes('alias/'));

/** Executions of a region that AWS keeps unreserved. */
const UNRESERVED_MIN = 100;
/** Longest silence in s that CloudFront allows without a higher quota. */
const EDGE_SECONDS_DEFAULT = 120;

const lambdaSchema = z.object({ ReservedConcurrentExecutions: z.number().default(0) });
const distributionSchema = z.object({
  DistributionConfig: z.object({
    Origins: z.array(
      z.object({ CustomOriginConfig: z.object({ OriginReadTimeout: z.number().default(0) }).optional() }),
    ),
  }),
});

/**
 * Checks the quotas that the settings of the environment need, with the lookup role, which deployments do not use. Without
 * such a setting, reads nothing.
 */
export const checkQuotas = async ({ region, stacks, fill }: Site): Problems => {
  const resources = stacks.flatMap((stack) => stack.resources);
  const lookupRole = stacks.find((stack) => stack.lookupRole !== undefined)?.lookupRole;
  const read = async (quota: Quota, at: string): Promise<number> =>
    readQuota(quota, {
      region: at,
      credentials: lookupRole === undefined ? undefined : await assumeRole(fill(lookupRole), region),
    });
  const problems: string[] = [];
  const reserved = sum(ofType(resources, 'AWS::Lambda::Function').map((each) => lambdaSchema.parse(each)));
  if (reserved > 0) {
    const quota: Quota = { service: 'lambda', code: 'L-B99A9384' };
    const value = await read(quota, region);
    if (value < reserved + UNRESERVED_MIN)
      problems.push(
        `reservedConcurrency: takes ${reserved} executions and AWS requires ${UNRESERVED_MIN} more, but the quota "Concurrent executions" (${quota.code}) in ${region} is ${value}. Raise it in Service Quotas, or lower reservedConcurrency.`,
      );
  }
  const silence = longestSilence(resources);
  if (silence > EDGE_SECONDS_DEFAULT) {
    const quota: Quota = { service: 'cloudfront', code: 'L-AECE9FA7' };
    const value = await read(quota, EDGE_REGION);
    if (value < silence)
      problems.push(
        `edgeTimeoutSeconds: is ${silence}, but the quota "Response timeout per origin" (${quota.code}) of CloudFront is ${value}. Raise it in Service Quotas, or lower edgeTimeoutSeconds.`,
      );
  }
  return problems;
};

const ofType = (resources: readonly AssemblyResource[], wanted: string) =>
  resources.filter(({ type }) => type === wanted).map(({ properties }) => properties);

const sum = (functions: readonly z.output<typeof lambdaSchema>[]): number =>
  functions.reduce((total, each) => total + each.ReservedConcurrentExecutions, 0);

const longestSilence = (resources: readonly AssemblyResource[]): number => {
  const distributions = ofType(resources, 'AWS::CloudFront::Distribution');
  const origins = distributions.flatMap((each) => distributionSchema.parse(each).DistributionConfig.Origins);
  return Math.max(0, ...origins.map(({ CustomOriginConfig }) => CustomOriginConfig?.OriginReadTimeout ?? 0));
};
