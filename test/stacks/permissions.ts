import * as z from 'zod';
import { nameOf, ofType, pointsAt, type Synthesized } from './synthesize.ts';

const policySchema = z.object({
  PolicyDocument: z.object({
    Statement: z.array(
      z.object({
        Effect: z.literal('Allow'),
        Action: z.union([z.string(), z.array(z.string())]),
        Resource: z.unknown(),
      }),
    ),
  }),
});

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** Returns all permissions of the roles below a name, as `action resource`. */
export const permissionsOf = (name: string, own: Synthesized, others: readonly Synthesized[]): readonly string[] =>
  ofType(own, 'AWS::IAM::Policy')
    .filter((policy) => nameOf(policy).startsWith(`${name}/`))
    .flatMap((policy) => policySchema.parse(policy.Properties).PolicyDocument.Statement)
    .flatMap(({ Action, Resource }) =>
      list(Action).flatMap((action) =>
        list(Resource).map((resource) => `${action} ${pointsAt(resource, own, others)}`),
      ),
    )
    .sort();

export const logsTo = (group: string): readonly string[] => [
  `logs:CreateLogStream ${group}`,
  `logs:PutLogEvents ${group}`,
];

// X-Ray actions have no resource.
export const traces = ['xray:PutTelemetryRecords *', 'xray:PutTraceSegments *'] as const;
