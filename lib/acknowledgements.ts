import { DefaultStackSynthesizer, Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import type { GatewayStage } from './gateway-stage.ts';

interface Acknowledgement {
  /** Path below an environment: a stack, or a construct in it. */
  readonly of: string;
  /** Rule ids of cdk-nag without `AwsSolutions-`. `acknowledge` fills in `<region>`, `<prefix>` and `<qualifier>`. */
  readonly rules: readonly string[];
  readonly reason: string;
}

/** Returns a reference to an output of the data stack, as it appears in a template. */
const ofData = (output: string): string =>
  `Resource::{"Fn::GetStackOutput":{"StackName":"<prefix>-data","Region":"<region>","OutputName":"PublishOutputFnGetAtt${output}"}}`;

const media = ofData('media54CBABFCArn8B642E1E');
const accounts = ofData('accountstable3D28A7B5ArnD9D6119B');
const prefixes = ['answers', 'media', 'outbox', 'videos'] as const;

const perObject =
  'Object names are unpredictable, so a role can only be limited to their prefix. test/stacks/function-permissions.test.ts lists every prefix.';
const tracing =
  'X-Ray actions have no resource: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsx-ray.html. In a VPC, Lambda also manages network interfaces, whose names it chooses.';
const drawnOnce =
  'Automatic rotation would make these values unusable. docs/operations/deployment.md describes how to replace each secret by hand.';

/** Accepted findings of cdk-nag. A test fails for any other finding, and for a row without a finding. */
export const acknowledgements: readonly Acknowledgement[] = [
  ...(['api', 'video'] as const).map((of) => ({
    of,
    rules: (of === 'video' ? (['outbox', 'videos'] as const) : prefixes).map((prefix) => `IAM5[${media}/${prefix}/*]`),
    reason: perObject,
  })),
  { of: 'api', rules: ['IAM5[Resource::*]'], reason: tracing },
  { of: 'video/videoSteps', rules: ['IAM5[Resource::*]'], reason: tracing },
  {
    of: 'video/machine-role',
    rules: ['IAM5[Resource::*]'],
    reason:
      'X-Ray and log delivery actions have no resource. CDK adds both to the role of the state machine, and no other wildcard.',
  },
  {
    of: 'api/notices',
    rules: [`IAM5[${accounts}/stream/*]`],
    reason: 'ListStreams takes no stream in its request. All other actions are limited to the one stream.',
  },
  {
    of: 'api/usageEvents',
    rules: [`IAM5[${accounts}/stream/*]`],
    reason: 'ListStreams takes no stream in its request. All other actions are limited to the one stream.',
  },
  {
    of: 'api/web-code',
    rules: [
      'IAM5[Resource::<webcodebucketDA90E385.Arn>/web-function/*]',
      'IAM5[Resource::arn:aws:s3:::cdk-<qualifier>-assets-<AWS::AccountId>-<region>/*]',
    ],
    reason:
      "Copies of code are named by their content. The role reads CDK's asset bucket and writes to the code bucket.",
  },
  {
    of: 'data/media',
    rules: ['S1'],
    reason:
      'Anyone who knows the name of an image can read it. An access log would keep these names longer than the images exist.',
  },
  {
    of: 'api/inference/network',
    rules: ['IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AWSLambdaNetworkConnectorOperatorPolicy]'],
    reason:
      'AWS provides this policy for the role with which Lambda manages the network interfaces of a connector. No function has the role.',
  },
  {
    of: 'api/web-code',
    rules: ['S1'],
    reason: 'Only deployments write to this bucket and only Lambda reads it. CloudTrail records the deployments.',
  },
  ...['key-pepper', 'provider-keys', 'bot-token', 'top-up-key', 'origin-secret', 'canary-key'].map((name) => ({
    of: `data/${name}`,
    rules: ['SMG4'],
    reason: drawnOnce,
  })),
  {
    of: 'video/machine',
    rules: ['SF1'],
    reason:
      "Failures are logged. Step Functions also keeps each execution's history for 90 days, with ids and without prompts.",
  },
  {
    of: 'api/text-live',
    rules: ['IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]'],
    reason: 'AWS provides this policy for the role with which CodeDeploy moves the requests of an alias.',
  },
  {
    of: 'api/account-changes/failed',
    rules: ['SQS3'],
    reason: 'This is the queue for account changes whose notification failed. Only an operator removes entries.',
  },
  {
    of: 'api/usage-events/charges/failed',
    rules: ['SQS3'],
    reason: 'This is the queue for charge records whose event was not published. Only an operator removes entries.',
  },
  { of: 'edge/edge', rules: ['CFR1'], reason: 'Clients may call from every country. An API key controls access.' },
  {
    of: 'edge/edge',
    rules: ['CFR3'],
    reason:
      'The access-logs stack has logs of the newer type with selectable fields. No field contains the query, which may contain keys.',
  },
  {
    of: 'edge/edge',
    rules: ['CFR4'],
    reason: 'Without a domain, CloudFront uses its own certificate, which does not support a minimum TLS version.',
  },
  {
    of: 'api/rest',
    rules: ['APIG2'],
    reason: 'The functions validate requests and return errors in the format of each protocol.',
  },
  {
    of: 'api/rest',
    rules: ['APIG6'],
    reason: 'Execution logs would contain bodies and thus prompts. Access logs are on.',
  },
  {
    of: 'api/rest',
    rules: ['IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]'],
    reason:
      'API Gateway uses one role to write all logs of an AWS account, and AWS provides this policy for that role.',
  },
];

/**
 * Acknowledges the findings of cdk-nag in an environment, each with its reason. Skips paths that the environment does
 * not have, depending on its front door.
 */
export const acknowledge = (stage: GatewayStage): void => {
  for (const { of, rules, reason } of acknowledgements) {
    const found = find(stage, of);
    if (found) Validations.of(found).acknowledge(...rules.map((rule) => ({ id: idOf(rule, stage, found), reason })));
  }
};

const find = (stage: GatewayStage, path: string): IConstruct | undefined =>
  path.split('/').reduce<IConstruct | undefined>((scope, id) => scope?.node.tryFindChild(id), stage);

const idOf = (rule: string, { prefix }: GatewayStage, found: IConstruct): string => {
  const { region, synthesizer } = Stack.of(found);
  return `AwsSolutions-${rule}`
    .replaceAll('<region>', region)
    .replaceAll('<prefix>', prefix)
    .replaceAll('<qualifier>', synthesizer.bootstrapQualifier ?? DefaultStackSynthesizer.DEFAULT_QUALIFIER);
};
