import * as z from 'zod';
import { prefixOf } from '../../lib/environments.ts';
import { moneyAlarmIds } from '../../lib/operations/money-alarms.ts';
import type { Caller } from '../caller.ts';
import { environmentOf } from '../config.ts';
import { whyOf } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import { assumeRole, isDenied, readTemplate } from './aws-reads.ts';
import { placeholdersOf } from './preflight.ts';
import type { AssemblyStack } from './read-assembly.ts';

/** Options of `cdk deploy`, by the step of a deployment. */
export interface RollbackOptions {
  /** For the stacks of the functions, which are deployed first. Undefined: there is only one step, for all stacks. */
  readonly functions: readonly string[] | undefined;
  /** For all stacks. */
  readonly all: readonly string[];
}

const TRIGGERS = '--rollback-trigger-alarm-arns';

/** CloudFormation keeps the triggers of a stack until they are replaced. */
const noTriggers: RollbackOptions = { functions: undefined, all: [`${TRIGGERS}=none`] };
const unchanged: RollbackOptions = { functions: undefined, all: [] };

const templateSchema = z.object({
  Resources: z.record(z.string(), z.object({ Properties: z.object({ AlarmName: z.unknown().optional() }).optional() })),
});

/**
 * Returns the options with which CloudFormation watches the money alarms, if the environment has `rollbackMinutes`. Reads
 * the template of the deployed alarms with the role of the deployment, because a missing alarm fails a deployment. So
 * the first one has no triggers. Alarms are ignored with `ignoresAlarms`, for a deployment that ends one.
 */
export const readRollbackOptions = async (
  stacks: readonly AssemblyStack[],
  name: string,
  caller: Caller,
  { status }: Terminal,
  ignoresAlarms = false,
): Promise<RollbackOptions> => {
  const { region, rollbackMinutes } = environmentOf(name);
  if (rollbackMinutes === undefined || ignoresAlarms) return noTriggers;
  const names = moneyAlarmIds.map((id) => `${prefixOf(name)}-${id}`);
  const there = await deployedAlarms(stacks, name, caller).catch((error: unknown) => {
    if (!isDenied(error)) throw error;
    status(`${region}: the triggers of a rollback are unchanged, because the alarms cannot be read (${whyOf(error)}).`);
    return undefined;
  });
  if (there === undefined) return unchanged;
  if (!names.every((each) => there.has(each))) {
    status('A money alarm does not exist yet, so CloudFormation watches none during this deployment.');
    return noTriggers;
  }
  const partition = caller.arn.split(':')[1];
  const arns = names.map((each) => `arn:${partition}:cloudwatch:${region}:${caller.account}:alarm:${each}`);
  status(`CloudFormation watches ${names.join(', ')} for ${rollbackMinutes} min after it updated the functions.`);
  return {
    functions: [...arns.map((arn) => `${TRIGGERS}=${arn}`), `--monitoring-time-minutes=${rollbackMinutes}`],
    all: [],
  };
};

/** Returns the names of the alarms in the deployed stack. Empty before its first deployment. */
const deployedAlarms = async (
  stacks: readonly AssemblyStack[],
  name: string,
  caller: Caller,
): Promise<ReadonlySet<unknown>> => {
  const { region } = environmentOf(name);
  const stackName = `${prefixOf(name)}-operations`;
  const role = stacks.find((stack) => stack.name === stackName)?.deployRole;
  const credentials = role === undefined ? undefined : await assumeRole(placeholdersOf(caller, region)(role), region);
  const template = await readTemplate(stackName, { region, credentials });
  if (template === undefined) return new Set();
  const { Resources } = templateSchema.parse(JSON.parse(template));
  return new Set(Object.values(Resources).map(({ Properties }) => Properties?.AlarmName));
};
