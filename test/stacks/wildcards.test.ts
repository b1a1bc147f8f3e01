import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { environments, frontDoors, parseEnvironment } from '../../lib/environments.ts';
import { addGateway } from '../../lib/gateway.ts';
import { newApp } from './synthesize.ts';

/** Actions that AWS knows no resource for, by who has to be allowed them. */
const onAnything: Readonly<Record<string, readonly string[]>> = {
  // https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsx-ray.html
  'whatever is traced': ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'],
  // https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html and xray-iam.html
  'the machine of videos': [
    'xray:GetSamplingRules',
    'xray:GetSamplingTargets',
    'logs:CreateLogDelivery',
    'logs:GetLogDelivery',
    'logs:UpdateLogDelivery',
    'logs:DeleteLogDelivery',
    'logs:ListLogDeliveries',
    'logs:PutResourcePolicy',
    'logs:DescribeResourcePolicies',
    'logs:DescribeLogGroups',
  ],
};

const statementSchema = z.object({
  Effect: z.enum(['Allow', 'Deny']),
  Action: z.union([z.string(), z.array(z.string())]),
  /** A role's own policy on who may take it has none. */
  Resource: z.unknown().optional(),
});
const documentSchema = z.object({ Statement: z.array(statementSchema) });

/** Every policy document, wherever in a template it stands. */
const documentsIn = (value: unknown): readonly z.output<typeof documentSchema>[] => {
  if (typeof value !== 'object' || value === null) return [];
  // The firewall calls something else a statement.
  const own = 'Statement' in value && Array.isArray(value.Statement) ? [documentSchema.parse(value)] : [];
  return [...own, ...Object.values(value).flatMap(documentsIn)];
};

const list = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

const allowedIn = (stack: Stack) =>
  documentsIn(Template.fromStack(stack).toJSON().Resources)
    .flatMap(({ Statement }) => Statement)
    .filter(({ Effect }) => Effect === 'Allow')
    .flatMap(({ Action, Resource }) => list(Action).map((action) => ({ action, resources: list(Resource) })));

test.each(frontDoors)(
  'OPS-1 behind %s nothing allows actions by pattern, or on anything but what has no resource',
  (frontDoor) => {
    const environment = parseEnvironment({ ...environments.prod, frontDoor });
    const stacks = Object.values(addGateway(newApp({ bundling: false }), 'prod', environment)).filter(
      (stack): stack is Stack => stack instanceof Stack,
    );
    const allowed = stacks.flatMap(allowedIn);
    expect(allowed.length).toBeGreaterThan(50);
    expect(allowed.map(({ action }) => action).filter((action) => action.includes('*'))).toEqual([]);
    const open = allowed.filter(({ resources }) => resources.includes('*')).map(({ action }) => action);
    expect([...new Set(open)].sort()).toEqual(Object.values(onAnything).flat().sort());
  },
);
