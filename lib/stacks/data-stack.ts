import { CfnOutput, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { GatewayTable } from '../constructs/gateway-table.ts';
import { MediaBucket } from '../constructs/media-bucket.ts';
import type { SecretName } from '../function-description.ts';
import { type TableName, tables } from '../tables.ts';
import { GatewayStack, type GatewayStackProps } from './gateway-stack.ts';

/** All that has state: deployed first, changed with care, and still there when the rest is taken down. */
export class DataStack extends GatewayStack {
  readonly tables: Readonly<Record<TableName, GatewayTable>>;
  readonly media: Bucket;
  readonly secrets: Readonly<Record<SecretName, Secret>>;

  constructor(scope: Construct, id: string, props: GatewayStackProps) {
    super(scope, id, props);
    const { keepsData, frontDoor } = props.environment;
    const table = (name: TableName) => new GatewayTable(this, `${name}-table`, { table: tables[name], keepsData });
    this.tables = {
      accounts: table('accounts'),
      keys: table('keys'),
      idempotency: table('idempotency'),
      counters: table('counters'),
      videos: table('videos'),
    };
    const media = new MediaBucket(this, 'media');
    if (frontDoor === 'cloudfront') media.letEdgeReadMedia();
    this.media = media;
    // Values of a deployment that failed have never been used.
    this.secrets = addSecrets(this, keepsData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY);
    addOutputs(this);
  }
}

/**
 * Secrets Manager draws all values, so that none is ever in a template. CloudFormation draws again whenever anything of
 * `generateSecretString` changes: every API key would stop working, every vendor's key would be lost. It stays as it is.
 */
const addSecrets = (stack: Stack, removalPolicy: RemovalPolicy): Record<SecretName, Secret> => ({
  keyPepper: new Secret(stack, 'key-pepper', {
    description: 'What API keys are hashed with. Another value makes every key unknown.',
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
    removalPolicy,
  }),
  providerKeys: new Secret(stack, 'provider-keys', {
    description: "The vendors' keys: one JSON object, by the variable names of catalog/providers.json.",
    // An object from the start, or the functions could not read it before an operator has filled it in. Nothing reads `drawn`.
    generateSecretString: { secretStringTemplate: '{}', generateStringKey: 'drawn' },
    removalPolicy,
  }),
  botToken: new Secret(stack, 'bot-token', {
    description:
      "The token of the messenger's bot. What was drawn for it is none, so that there is no bot until it is put in.",
    generateSecretString: { passwordLength: 32, excludePunctuation: true },
    removalPolicy,
  }),
  topUpKey: new Secret(stack, 'top-up-key', {
    description: 'What reports of payments are signed with. The payment provider needs it.',
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
    removalPolicy,
  }),
  originSecret: new Secret(stack, 'origin-secret', {
    description:
      'What the edge proves itself to the functions with. See docs/operations/deployment.md before it is changed.',
    generateSecretString: { passwordLength: 48, excludePunctuation: true },
    removalPolicy,
  }),
});

/** The operator's commands need these names. */
const addOutputs = (stack: DataStack): void => {
  for (const [name, table] of Object.entries(stack.tables))
    new CfnOutput(stack, `${name}TableName`, { value: table.tableName });
  new CfnOutput(stack, 'mediaBucketName', { value: stack.media.bucketName });
  for (const [name, secret] of Object.entries(stack.secrets))
    new CfnOutput(stack, `${name}SecretArn`, { value: secret.secretArn });
};
