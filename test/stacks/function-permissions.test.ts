import { expect, test } from 'vitest';
import { webFunctionNames } from '../../lib/functions.ts';
import { logsTo, permissionsOf, traces } from './permissions.ts';
import { synthesize } from './synthesize.ts';

const { data, video, api } = synthesize('prod');

const isWeb = (name: string): boolean => webFunctionNames.some((web) => web === name);

const permissions = (name: string): readonly string[] => permissionsOf(name, api, [data, video]);

const everyFunction = (name: string) => [...logsTo(`${name}/log`), ...(isWeb(name) ? [] : traces)];
/** Permission to read the secret that the edge sends. */
const door = ['secretsmanager:GetSecretValue origin-secret'];
/** Permission to read the parameter in which the front door stores its URL. */
const address = ['ssm:GetParameter arn:aws:ssm:us-east-1:AWS::AccountId:parameter/gateway-prod/public-url'];
const admission = [
  ...door,
  'secretsmanager:GetSecretValue key-pepper',
  'dynamodb:GetItem keys-table',
  'dynamodb:UpdateItem keys-table',
  'dynamodb:UpdateItem counters-table',
  'dynamodb:GetItem counters-table',
];
const ledger = [
  'dynamodb:GetItem accounts-table',
  'dynamodb:PutItem accounts-table',
  'dynamodb:UpdateItem accounts-table',
];
const claims = [
  'dynamodb:GetItem idempotency-table',
  'dynamodb:PutItem idempotency-table',
  'dynamodb:UpdateItem idempotency-table',
  'dynamodb:DeleteItem idempotency-table',
];
const circuits = ['dynamodb:BatchGetItem counters-table', 'dynamodb:DeleteItem counters-table'];
/** Permissions to open accounts, replace API keys and add credits. */
const accountChanges = [
  ...ledger,
  'dynamodb:ConditionCheckItem accounts-table',
  'dynamodb:Query accounts-table',
  'dynamodb:PutItem keys-table',
  'dynamodb:UpdateItem keys-table',
];
/** Permission to remove late charges, which usage sums include then. */
const usageSums = ['dynamodb:DeleteItem accounts-table'];
const answers = ['s3:GetObject media/answers/*', 's3:PutObject media/answers/*'];

const videos = [
  'dynamodb:GetItem videos-table',
  'dynamodb:PutItem videos-table',
  'dynamodb:UpdateItem videos-table',
  'dynamodb:Query videos-table/index/account',
  's3:DeleteObject media/videos/*',
  'states:StartExecution machine',
];

/** Permissions of functions that can store images. */
const drawing = [
  ...admission,
  ...address,
  ...ledger,
  'dynamodb:Query accounts-table',
  ...claims,
  ...circuits,
  ...answers,
  's3:GetObject media/outbox/*',
  's3:PutObject media/outbox/*',
  's3:PutObject media/media/*',
  's3:ListBucket media',
  'secretsmanager:GetSecretValue provider-keys',
];

test.each([
  ['inference', [...drawing, ...videos]],
  ['text', drawing],
  [
    'videos',
    [
      ...admission,
      ...ledger,
      ...claims,
      ...circuits,
      ...answers,
      ...videos,
      's3:GetObject media/outbox/*',
      's3:ListBucket media',
      'secretsmanager:GetSecretValue provider-keys',
    ],
  ],
  ['images', drawing],
  [
    'audio',
    [
      ...admission,
      ...ledger,
      'dynamodb:Query accounts-table',
      ...circuits,
      's3:GetObject media/outbox/*',
      's3:PutObject media/outbox/*',
      's3:ListBucket media',
      'secretsmanager:GetSecretValue provider-keys',
    ],
  ],
  [
    'content',
    [
      ...admission,
      'dynamodb:GetItem videos-table',
      's3:GetObject media/media/*',
      's3:GetObject media/videos/*',
      's3:ListBucket media',
    ],
  ],
  ['catalog', admission],
  ['account', [...new Set([...admission, ...accountChanges, ...usageSums, 'dynamodb:BatchGetItem keys-table'])]],
  [
    'bot',
    [
      ...door,
      ...address,
      ...accountChanges,
      'dynamodb:GetItem keys-table',
      'dynamodb:UpdateItem counters-table',
      'dynamodb:DeleteItem counters-table',
      'dynamodb:GetItem counters-table',
      'secretsmanager:GetSecretValue key-pepper',
      'secretsmanager:GetSecretValue bot-token',
    ],
  ],
  [
    'app',
    [
      ...door,
      ...accountChanges,
      ...usageSums,
      'dynamodb:BatchGetItem keys-table',
      'dynamodb:UpdateItem counters-table',
      'dynamodb:GetItem counters-table',
      'secretsmanager:GetSecretValue key-pepper',
      'secretsmanager:GetSecretValue bot-token',
      'secretsmanager:GetSecretValue top-up-key',
    ],
  ],
  [
    'notices',
    [
      ...address,
      'dynamodb:GetItem accounts-table',
      'dynamodb:UpdateItem accounts-table',
      'dynamodb:DescribeStream accounts-table stream',
      'dynamodb:GetRecords accounts-table stream',
      'dynamodb:GetShardIterator accounts-table stream',
      'dynamodb:ListStreams accounts-table/stream/*',
      'sqs:SendMessage account-changes/failed',
      'secretsmanager:GetSecretValue bot-token',
    ],
  ],
  [
    'sweep',
    [
      ...ledger,
      'dynamodb:GetItem counters-table',
      'dynamodb:Query accounts-table/index/sweep',
      's3:GetObject media/outbox/*',
      's3:ListBucket media',
    ],
  ],
  [
    'outbox',
    [
      ...ledger,
      'dynamodb:GetItem counters-table',
      's3:GetObject media/outbox/*',
      's3:DeleteObject media/outbox/*',
      's3:ListBucket media',
    ],
  ],
  [
    'videoSweep',
    [
      ...ledger,
      'dynamodb:GetItem counters-table',
      'dynamodb:GetItem videos-table',
      'dynamodb:UpdateItem videos-table',
      'dynamodb:Query videos-table/index/running',
      's3:GetObject media/outbox/*',
      's3:DeleteObject media/videos/*',
      's3:ListBucket media',
      'states:StartExecution machine',
    ],
  ],
  [
    'audit',
    [
      'dynamodb:GetItem accounts-table',
      'dynamodb:Query accounts-table',
      'dynamodb:Scan accounts-table',
      'dynamodb:GetItem counters-table',
      'dynamodb:PutItem counters-table',
    ],
  ],
  ['canary', ['secretsmanager:GetSecretValue canary-key', ...address, 's3:PutObject media/media/*']],
])('OPS-1 the function %s has exactly the permissions that it needs', (name, expected) => {
  expect(permissions(name)).toEqual([...everyFunction(name), ...expected].sort());
});

test.each([
  ['with usage events', 'usage-events/bus'],
  ['cloudfront with the event bus of the owner', 'arn:aws:events:us-east-1:210987654321:event-bus/billing'],
] as const)(
  'OPS-1, OPS-20 %s, the function that publishes them can only read the stream and publish',
  (variant, bus) => {
    const other = synthesize('prod', variant);
    expect(permissionsOf('usageEvents', other.api, [other.data, other.video])).toEqual(
      [
        ...everyFunction('usageEvents'),
        'dynamodb:DescribeStream accounts-table stream',
        'dynamodb:GetRecords accounts-table stream',
        'dynamodb:GetShardIterator accounts-table stream',
        'dynamodb:ListStreams accounts-table/stream/*',
        `events:PutEvents ${bus}`,
        'sqs:SendMessage usage-events/charges/failed',
      ].sort(),
    );
  },
);

test('OPS-1 the copier of code can only copy and delete code', () => {
  expect(permissions('web-code')).toEqual(
    [
      ...logsTo('web-code/log'),
      's3:GetObject arn:aws:s3:::cdk-hnb659fds-assets-AWS::AccountId-us-east-1/*',
      's3:GetObjectVersion arn:aws:s3:::cdk-hnb659fds-assets-AWS::AccountId-us-east-1/*',
      's3:PutObject web-code/bucket/web-function/*',
      's3:DeleteObjectVersion web-code/bucket/web-function/*',
    ].sort(),
  );
});

test('OPS-1 behind API Gateway no function reads the origin secret; `content` keeps its grants', () => {
  const other = synthesize('prod', 'api-gateway');
  const there = (name: string) => permissionsOf(name, other.api, [other.data, other.video]);
  const withoutDoor = (name: string) => permissions(name).filter((permission) => !door.includes(permission));
  for (const name of ['text', 'images', 'audio', 'videos', 'catalog', 'account', 'bot', 'app'])
    expect(there(name).toSorted(), name).toEqual(withoutDoor(name).toSorted());
  expect(there('content').toSorted()).toEqual([...withoutDoor('content'), ...traces].toSorted());
});
