import { type App, Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { prefixOf } from './environments.ts';

interface Acknowledgement {
  /** Below an environment: a stack, or a part of it. */
  readonly of: string;
  /** As cdk-nag names it, behind `AwsSolutions-`; `<region>` and `<prefix>` stand for what they are there. */
  readonly rules: readonly string[];
  readonly reason: string;
}

/** What another stack tells of its own, as it stands in a template. */
const ofData = (output: string): string =>
  `Resource::{"Fn::GetStackOutput":{"StackName":"<prefix>-data","Region":"<region>","OutputName":"PublishOutputFnGetAtt${output}"}}`;

const media = ofData('media54CBABFCArn8B642E1E');
const accounts = ofData('accountstable3D28A7B5ArnD9D6119B');
const prefixes = ['answers', 'media', 'outbox', 'pages', 'videos'] as const;

const perObject =
  'Objects have names of their own, so that what a role may touch of them can only be told by their prefix; test/stacks/function-permissions.test.ts has every one.';
const tracing =
  'X-Ray takes no resource: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsx-ray.html';
const drawnOnce =
  'Nobody could use a value that changes by itself: docs/operations/deployment.md says how each of the secrets is replaced by hand.';

/** What cdk-nag finds and what stays as it is. A test fails on whatever else it finds, and on a row here that nothing is found for. */
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
      'X-Ray and the delivery of logs take no resource. CDK adds both for the machine, and nothing else by pattern.',
  },
  {
    of: 'api/notices',
    rules: [`IAM5[${accounts}/stream/*]`],
    reason: 'ListStreams names no stream when it is called; the other actions are on the one stream.',
  },
  {
    of: 'api/web-code',
    rules: [
      'IAM5[Resource::<webcodebucketDA90E385.Arn>/web-function/*]',
      'IAM5[Resource::arn:aws:s3:::cdk-hnb659fds-assets-<AWS::AccountId>-<region>/*]',
    ],
    reason: "Copies of code are named by what is in them. It reads CDK's own bucket of uploads and writes one of ours.",
  },
  {
    of: 'data/media',
    rules: ['S1'],
    reason:
      'The names of images are what lets a client read them, and a log of accesses would hold them for longer than they live.',
  },
  {
    of: 'api/web-code',
    rules: ['S1'],
    reason: 'Deployments write it and Lambda reads it; CloudTrail has who deployed.',
  },
  ...['key-pepper', 'provider-keys', 'bot-token', 'top-up-key', 'origin-secret'].map((name) => ({
    of: `data/${name}`,
    rules: ['SMG4'],
    reason: drawnOnce,
  })),
  {
    of: 'video/machine',
    rules: ['SF1'],
    reason:
      'Failures are logged. An execution keeps its whole history for 90 days anyway, which has ids and no prompts.',
  },
  {
    of: 'api/account-changes/failed',
    rules: ['SQS3'],
    reason: 'It is where the changes end that could not be told. Nothing takes them out but an operator.',
  },
  { of: 'edge/edge', rules: ['CFR1'], reason: 'Clients may call from wherever they are; whoever may not has no key.' },
  {
    of: 'edge/edge',
    rules: ['CFR3'],
    reason:
      'The stack access-logs has the logs, of the newer kind, whose fields can be chosen: none has the query, where keys stand.',
  },
  {
    of: 'edge/edge',
    rules: ['CFR4'],
    reason:
      "Without a domain the certificate is CloudFront's own, with which no least version of TLS can be asked for.",
  },
  {
    of: 'api/rest',
    rules: ['APIG2'],
    reason: 'The functions check requests, and refuse them in the form that clients of each protocol understand.',
  },
  {
    of: 'api/rest',
    rules: ['APIG6'],
    reason: 'Logs of executions would hold bodies, and with them prompts. Accesses are logged.',
  },
  {
    of: 'api/rest',
    rules: ['IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]'],
    reason: 'API Gateway writes the logs of an AWS account with one role, and this policy is what AWS has made for it.',
  },
];

/** Records them on every environment that has what they are about: which stacks there are depends on the front door. */
export const acknowledge = (app: App): void => {
  for (const environment of app.node.children)
    for (const { of, rules, reason } of acknowledgements) {
      const found = find(environment, of);
      if (found)
        Validations.of(found).acknowledge(...rules.map((rule) => ({ id: idOf(rule, environment, found), reason })));
    }
};

const find = (environment: IConstruct, path: string): IConstruct | undefined =>
  path.split('/').reduce<IConstruct | undefined>((scope, id) => scope?.node.tryFindChild(id), environment);

const idOf = (rule: string, environment: IConstruct, found: IConstruct): string =>
  `AwsSolutions-${rule}`
    .replaceAll('<region>', Stack.of(found).region)
    .replaceAll('<prefix>', prefixOf(environment.node.id));
