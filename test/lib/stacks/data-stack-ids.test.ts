import { expect, test } from 'vitest';
import { type Resource, type Synthesized, synthesize } from '../../stacks/synthesize.ts';

/**
 * Resources that hold money, API keys or secrets: stack, logical id, type, physical name and what else replaces the
 * resource. CloudFormation would create an empty one under another id, name or key. `undefined`: CloudFormation chose
 * the name at the first deployment, and keeps it.
 *
 * Never change a row. A refactoring that fails here would lose what deployed environments store.
 */
const pinned = [
  ['gateway-prod-data', 'accountstable3D28A7B5', 'AWS::DynamoDB::GlobalTable', undefined, 'pk S, sk S'],
  ['gateway-prod-data', 'keystableEDD66D8F', 'AWS::DynamoDB::GlobalTable', undefined, 'pk S'],
  ['gateway-prod-data', 'idempotencytable59B035A0', 'AWS::DynamoDB::GlobalTable', undefined, 'pk S'],
  ['gateway-prod-data', 'counterstable651FD988', 'AWS::DynamoDB::GlobalTable', undefined, 'pk S'],
  ['gateway-prod-data', 'videostableB7D8C069', 'AWS::DynamoDB::GlobalTable', undefined, 'pk S'],
  ['gateway-prod-data', 'media54CBABFC', 'AWS::S3::Bucket', undefined, ''],
  ['gateway-prod-data', 'keypepper1326BF9E', 'AWS::SecretsManager::Secret', undefined, '64 characters'],
  ['gateway-prod-data', 'providerkeysC03EFC45', 'AWS::SecretsManager::Secret', undefined, '{} with drawn'],
  ['gateway-prod-data', 'bottokenF0A8258D', 'AWS::SecretsManager::Secret', undefined, '32 characters'],
  ['gateway-prod-data', 'topupkey7547FFDC', 'AWS::SecretsManager::Secret', undefined, '64 characters'],
  ['gateway-prod-data', 'originsecret2CF3A189', 'AWS::SecretsManager::Secret', undefined, '48 characters'],
  ['gateway-prod-data', 'canarykeyB6BFE503', 'AWS::SecretsManager::Secret', undefined, '32 characters'],
  ['gateway-prod-video', 'machine8824BB81', 'AWS::StepFunctions::StateMachine', 'gateway-prod-videos', 'STANDARD'],
  ['gateway-prod-api', 'accountchangesfailed3408D49E', 'AWS::SQS::Queue', 'gateway-prod-failed-account-changes', ''],
];

const types = new Set(pinned.map(([, , type]) => type));
const names = ['TableName', 'BucketName', 'Name', 'StateMachineName', 'QueueName'];

interface TableKeys {
  readonly KeySchema: readonly { readonly AttributeName: string }[];
  readonly AttributeDefinitions: readonly { readonly AttributeName: string; readonly AttributeType: string }[];
}

const keysOf = ({ KeySchema, AttributeDefinitions }: TableKeys): string =>
  KeySchema.map(({ AttributeName: name }) => {
    const definition = AttributeDefinitions.find(({ AttributeName }) => AttributeName === name);
    return `${name} ${definition?.AttributeType}`;
  }).join(', ');

const generatedBy = (rule: Readonly<Record<string, unknown>>): string =>
  rule.SecretStringTemplate === undefined
    ? `${rule.PasswordLength} characters`
    : `${rule.SecretStringTemplate} with ${rule.GenerateStringKey}`;

/** Returns the properties of a resource that CloudFormation can only change by a replacement, or by a new value. */
const replacedBy = ({ Properties }: Resource): string => {
  const { KeySchema, GenerateSecretString, StateMachineType } = Properties;
  if (KeySchema) return keysOf(Properties as unknown as TableKeys);
  if (GenerateSecretString) return generatedBy(GenerateSecretString as Readonly<Record<string, unknown>>);
  return typeof StateMachineType === 'string' ? StateMachineType : '';
};

const rowsOf = (stack: string, { resources }: Synthesized) =>
  [...resources].flatMap(([id, resource]) => {
    const { Type, Properties } = resource;
    if (!types.has(Type)) return [];
    return [[stack, id, Type, names.map((name) => Properties[name]).find((name) => name), replacedBy(resource)]];
  });

test('OPS-18 everything that stores money, API keys or secrets keeps its logical id and name', () => {
  const { data, video, api, gateway } = synthesize('prod', 'with a canary');
  const rows = [
    ...rowsOf(gateway.data.stackName, data),
    ...rowsOf(gateway.video.stackName, video),
    ...rowsOf(gateway.api.stackName, api).filter(([, , type]) => type !== 'AWS::S3::Bucket'),
  ];
  expect(rows).toEqual(pinned);
});

test.each(['cloudfront', 'none', 'api-gateway', 'cloudfront of another region'] as const)(
  'OPS-18 the front door and the region change no logical id of stored data: %s',
  (variant) => {
    const ids = rowsOf('gateway-prod-data', synthesize('prod', variant).data).map(([, id]) => id);
    expect(ids.toSorted()).toEqual(
      pinned
        .filter(([stack, id]) => stack === 'gateway-prod-data' && (variant !== 'none' || id !== 'canarykeyB6BFE503'))
        .map(([, id]) => id)
        .toSorted(),
    );
  },
);
