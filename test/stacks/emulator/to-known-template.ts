import * as z from 'zod';

/**
 * Resource types of the stacks that moto 5.2.5 creates. It knows `AWS::SSM::Parameter`, but reads its tags as a list.
 */
const known: ReadonlySet<string> = new Set([
  'AWS::ApiGateway::RestApi',
  'AWS::CloudWatch::Dashboard',
  'AWS::DynamoDB::Table',
  'AWS::Events::Rule',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Logs::LogGroup',
  'AWS::S3::Bucket',
  'AWS::SNS::Topic',
  'AWS::SQS::Queue',
  'AWS::StepFunctions::StateMachine',
]);

/** Value of a missing resource. Moto checks the form of ARNs in policies, and templates take parts of URLs. */
const notCreated = (name: string): string => `arn:aws:not-created:us-east-1:123456789012:type:${name}/of/nothing`;

const resource = z.looseObject({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DependsOn: z.union([z.string(), z.array(z.string())]).optional(),
});
export const templateSchema = z.looseObject({
  Resources: z.record(z.string(), resource),
  Outputs: z.record(z.string(), z.looseObject({ Value: z.unknown() })).default({}),
});
type Template = z.output<typeof templateSchema>;
type Resource = z.output<typeof resource>;

const replicaSchema = z.looseObject({ DeletionProtectionEnabled: z.boolean(), Tags: z.array(z.unknown()) });

/** A global table with one replica is a table, whose properties are those of the table and of the replica. */
const toTable = ({ Properties, ...rest }: Resource): Resource => {
  const { Replicas, StreamSpecification, ...table } = Properties;
  const [replica] = z.tuple([replicaSchema]).parse(Replicas);
  const { DeletionProtectionEnabled, Tags } = replica;
  return {
    ...rest,
    Type: 'AWS::DynamoDB::Table',
    Properties: { ...table, DeletionProtectionEnabled, Tags, ...(StreamSpecification ? { StreamSpecification } : {}) },
  };
};

export interface KnownTemplate {
  readonly template: object;
  /** Number of resources of each type that moto does not create. */
  readonly unknown: ReadonlyMap<string, number>;
  readonly createdTypes: ReadonlyMap<string, number>;
}

/** Returns an output of a stack that exists already. */
export type OutputOf = (stackName: string, outputName: string) => string;

const outputSchema = z.strictObject({
  'Fn::GetStackOutput': z.looseObject({ StackName: z.string(), OutputName: z.string() }),
});
const referenceSchema = z.union([
  z.strictObject({ Ref: z.string() }).transform(({ Ref }) => ({ target: Ref, attribute: '' })),
  z
    .strictObject({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) })
    .transform(({ 'Fn::GetAtt': [target, attribute] }) => ({ target, attribute: `.${attribute}` })),
]);

/** Whether a permission is for a missing resource, such as the alias of a function. Moto rejects it. */
const isPermissionOf = ({ Type, Properties }: Resource, missing: ReadonlySet<string>): boolean =>
  Type === 'AWS::Lambda::Permission' &&
  missing.has(referenceSchema.safeParse(Properties.FunctionName).data?.target ?? '');

/**
 * Returns the part of a template that moto can create: without resources of other types, and with the values of other
 * stacks in place of `Fn::GetStackOutput`. A reference to a missing resource becomes an ARN with its name.
 */
export const toKnownTemplate = (input: unknown, outputOf: OutputOf): KnownTemplate => {
  const template = templateSchema.parse(input);
  const all = Object.entries(template.Resources).map(
    ([id, each]) => [id, each.Type === 'AWS::DynamoDB::GlobalTable' ? toTable(each) : each] as const,
  );
  const unknown = new Set(all.filter(([, { Type }]) => !known.has(Type)).map(([id]) => id));
  const missing = new Set(
    all.filter(([id, each]) => unknown.has(id) || isPermissionOf(each, unknown)).map(([id]) => id),
  );
  const kept = all.filter(([id]) => !missing.has(id));
  const replaced = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replaced);
    if (typeof value !== 'object' || value === null) return value;
    const output = outputSchema.safeParse(value).data?.['Fn::GetStackOutput'];
    if (output) return outputOf(output.StackName, output.OutputName);
    const reference = referenceSchema.safeParse(value).data;
    if (reference && missing.has(reference.target)) return notCreated(`${reference.target}${reference.attribute}`);
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaced(each)]));
  };
  const withoutMissing = ({ DependsOn = [], ...each }: Resource): Resource => {
    const left = [DependsOn].flat().filter((id) => !missing.has(id));
    return left.length === 0 ? each : { ...each, DependsOn: left };
  };
  return {
    template: {
      ...template,
      // A check of CDK's bootstrap with functions that moto lacks.
      Rules: undefined,
      Resources: Object.fromEntries(kept.map(([id, each]) => [id, replaced(withoutMissing(each))])),
      Outputs: replaced(template.Outputs) as Template['Outputs'],
    },
    unknown: countOf(all.filter(([id]) => missing.has(id))),
    createdTypes: countOf(kept),
  };
};

const countOf = (resources: readonly (readonly [string, Resource])[]): ReadonlyMap<string, number> =>
  new Map(
    [...Map.groupBy(resources, ([, { Type }]) => Type)]
      .map(([type, found]) => [type, found.length] as const)
      .sort(([one], [other]) => one.localeCompare(other)),
  );
