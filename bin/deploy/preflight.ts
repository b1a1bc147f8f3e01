import type { Caller } from '../caller.ts';
import { environmentOf } from '../config.ts';
import { failed, whyOf } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import { checkKey, checkQuotas, checkTypes, type Site } from './account-checks.ts';
import { assumeRole, isDenied, type RoleCredentials, readParameter } from './aws-reads.ts';
import type { AssemblyStack } from './read-assembly.ts';

/**
 * Checks, with reads only, that the account can take the stacks: the version of the CDK bootstrap, the rights of the
 * caller, the support of the region, the key of the assets and the quotas. Throws a CliError with one line per problem.
 */
export const preflight = async (
  stacks: readonly AssemblyStack[],
  name: string,
  caller: Caller,
  { status }: Terminal,
): Promise<void> => {
  const regions = [...Map.groupBy(stacks, ({ region }) => region)];
  const found = await Promise.all(
    regions.map(async ([region, own]) => {
      const site = await openSite(region, own, caller).catch((error: unknown) => unfinished(region, error));
      if (typeof site === 'string') return [site];
      const checks = [checkTypes(site), checkKey(site, environmentOf(name)), checkQuotas(site)];
      return (await Promise.all(checks.map((check) => orWarning(check, region, status)))).flat();
    }),
  );
  const problems = found.flat();
  if (problems.length > 0) throw failed(problems.join('\n'));
};

/** Reports a check that the roles may not make, and lets the deployment continue. Other errors are problems. */
const orWarning = async (
  check: Promise<readonly string[]>,
  region: string,
  status: Terminal['status'],
): Promise<readonly string[]> => {
  try {
    return await check;
  } catch (error) {
    if (!isDenied(error)) return [unfinished(region, error)];
    status(`${region}: not checked, because a role of CDK may not read it (${whyOf(error)}).`);
    return [];
  }
};

const unfinished = (region: string, error: unknown): string =>
  `${region}: a check failed (${whyOf(error)}). Run the same command again.`;

/** Returns a function that fills the placeholders of a name for the account of the caller and a region. */
export const placeholdersOf = ({ account, arn }: Caller, region: string): ((name: string) => string) => {
  const values: Readonly<Record<string, string | undefined>> = {
    AccountId: account,
    Region: region,
    Partition: arn.split(':')[1],
  };
  return (name) => name.replaceAll(/\$\{AWS::(\w+)\}/g, (placeholder, pseudo: string) => values[pseudo] ?? placeholder);
};

/** Assumes the roles that a deployment assumes. Returns a problem if one cannot be, or the bootstrap is too old. */
const openSite = async (region: string, stacks: readonly AssemblyStack[], caller: Caller): Promise<Site | string> => {
  const fill = placeholdersOf(caller, region);
  const named = stacks.flatMap(({ deployRole, assetBuckets }) => [deployRole, ...assetBuckets.map(({ role }) => role)]);
  const assumed = new Map<string, RoleCredentials>();
  for (const role of new Set(named.filter((each) => each !== undefined))) {
    try {
      assumed.set(role, await assumeRole(fill(role), region));
    } catch (error) {
      if (!isDenied(error)) throw error;
      return refusal({ region, stacks, caller }, fill(role), error);
    }
  }
  const credentialsOf = (role: string | undefined) => (role === undefined ? undefined : assumed.get(role));
  const site: Site = { region, stacks, fill, credentialsOf };
  return (await checkVersion(site, caller)) ?? site;
};

const bootstrapOf = (stacks: readonly AssemblyStack[]) => {
  const needed = stacks.flatMap(({ bootstrap }) => bootstrap ?? []);
  return needed.length === 0
    ? undefined
    : { parameter: needed[0]?.parameter ?? '', versionMin: Math.max(...needed.map(({ versionMin }) => versionMin)) };
};

const checkVersion = async (site: Site, { account }: Caller): Promise<string | undefined> => {
  const { region, stacks, credentialsOf } = site;
  const bootstrap = bootstrapOf(stacks);
  if (bootstrap === undefined) return undefined;
  const role = stacks.find(({ deployRole }) => deployRole !== undefined)?.deployRole;
  const version = await readParameter(bootstrap.parameter, { region, credentials: credentialsOf(role) });
  const command = bootstrapCommand(bootstrap.parameter, account, region);
  if (version === undefined) return `CDK bootstrap: missing in ${region} of account ${account}. Run ${command}.`;
  if (Number(version) >= bootstrap.versionMin) return undefined;
  return `CDK bootstrap: has version ${version} in ${region}, and these stacks need ${bootstrap.versionMin}. Run ${command}.`;
};

/**
 * Returns the reason why a role cannot be assumed. STS does not distinguish a missing role from a missing right, so the
 * caller's own rights decide, if they suffice to read the version of the bootstrap.
 */
const refusal = async (
  { region, stacks, caller }: Pick<Site, 'region' | 'stacks'> & { readonly caller: Caller },
  role: string,
  error: unknown,
): Promise<string> => {
  const bootstrap = bootstrapOf(stacks);
  const command = bootstrapCommand(bootstrap?.parameter ?? '', caller.account, region);
  const isThere = await exists(bootstrap?.parameter, region);
  if (isThere === false) return `CDK bootstrap: missing in ${region} of account ${caller.account}. Run ${command}.`;
  const problem = `Permissions: ${caller.arn} cannot assume ${role} (${whyOf(error)}).`;
  return isThere
    ? `${problem} Allow it sts:AssumeRole on that role.`
    : `${problem} Allow it sts:AssumeRole on that role, or create the role: ${command}.`;
};

/** Undefined if the caller may not read the parameter. */
const exists = async (parameter: string | undefined, region: string): Promise<boolean | undefined> => {
  if (parameter === undefined) return undefined;
  try {
    return (await readParameter(parameter, { region })) !== undefined;
  } catch {
    return undefined;
  }
};

const DEFAULT_QUALIFIER = 'hnb659fds';

/** Returns the command that creates or updates the bootstrap. Each qualifier needs a stack of its own. */
const bootstrapCommand = (parameter: string, account: string, region: string): string => {
  const qualifier = /^\/cdk-bootstrap\/([^/]+)\/version$/.exec(parameter)?.[1] ?? DEFAULT_QUALIFIER;
  const options =
    qualifier === DEFAULT_QUALIFIER ? '' : ` --qualifier ${qualifier} --toolkit-stack-name CDKToolkit-${qualifier}`;
  return `npx cdk bootstrap aws://${account}/${region}${options}`;
};
