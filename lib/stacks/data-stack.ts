import { CfnOutput, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import { type ITableV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { GatewayTable } from '../constructs/gateway-table.ts';
import { MediaBucket } from '../constructs/media-bucket.ts';
import { hasCanary } from '../environment-schema.ts';
import type { Environment } from '../environments.ts';
import type { SecretName } from '../function-description.ts';
import { type TableName, tables } from '../tables.ts';
import { GatewayStack, type GatewayStackProps } from './gateway-stack.ts';

/** Stateful resources. This stack is deployed first and kept when the others are deleted. */
export class DataStack extends GatewayStack {
  /** Tables that the functions use: those of this stack, or restored ones. */
  readonly tables: Readonly<Record<TableName, ITableV2>>;
  readonly media: Bucket;
  /** The secret of the canary exists only in environments with a canary. */
  readonly secrets: Readonly<Record<Exclude<SecretName, 'canaryKey'>, Secret> & { readonly canaryKey?: Secret }>;

  constructor(scope: Construct, id: string, props: GatewayStackProps) {
    super(scope, id, props, {
      description: 'Model gateway: tables, the media bucket and secrets, which hold all accounts, money and API keys.',
    });
    const { keepsData, frontDoor, restored } = props.environment;
    const table = (name: TableName) => new GatewayTable(this, `${name}-table`, { table: tables[name], keepsData });
    this.tables = {
      accounts: table('accounts'),
      keys: table('keys'),
      idempotency: table('idempotency'),
      counters: table('counters'),
      videos: table('videos'),
      ...restoredTables(this, restored),
    };
    const media = new MediaBucket(this, 'media');
    if (frontDoor === 'cloudfront') media.letEdgeReadMedia();
    this.media = media;
    // A failed first deployment deletes its secrets, because they were never used.
    const secrets = addSecrets(this, keepsData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY);
    this.secrets = hasCanary(props.environment) ? { ...secrets, canaryKey: addCanaryKey(this) } : secrets;
    addOutputs(this);
  }

  /** Throws an Error for the secret of the canary in an environment without one. */
  secretArnOf(name: SecretName): string {
    const secret = this.secrets[name];
    if (!secret) throw new Error(`${name}: this environment has no such secret.`);
    return secret.secretArn;
  }
}

/**
 * Returns the restored tables. The tables that they replace stay in the stack, so that removing the setting returns to
 * them.
 */
const restoredTables = (stack: Stack, { accounts, keys, videos }: Environment['restored']) => {
  const named = (name: TableName, tableName: string, tableStreamArn?: string): ITableV2 =>
    TableV2.fromTableAttributes(stack, `restored-${name}`, { tableName, ...(tableStreamArn && { tableStreamArn }) });
  return {
    ...(accounts && { accounts: named('accounts', accounts.table, accounts.streamArn) }),
    ...(keys && { keys: named('keys', keys) }),
    ...(videos && { videos: named('videos', videos) }),
  };
};

/**
 * Adds the secrets. Secrets Manager generates all values, so no template contains one. Do not change
 * `generateSecretString`: CloudFormation would generate new values, which invalidates every API key and deletes every
 * provider key.
 */
const addSecrets = (stack: Stack, removalPolicy: RemovalPolicy) => ({
  keyPepper: new Secret(stack, 'key-pepper', {
    description: 'Pepper for the hashes of API keys. Another value invalidates every API key.',
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
    removalPolicy,
  }),
  providerKeys: new Secret(stack, 'provider-keys', {
    description: 'Provider keys as one JSON object, with the variable names of catalog/providers.json.',
    // Start with a JSON object, so that the functions can parse it before an operator stores keys. `drawn` is not used.
    generateSecretString: { secretStringTemplate: '{}', generateStringKey: 'drawn' },
    removalPolicy,
  }),
  botToken: new Secret(stack, 'bot-token', {
    description:
      'Token of the messenger bot. The generated value is not a token, so the bot is off until an operator stores one.',
    generateSecretString: { passwordLength: 32, excludePunctuation: true },
    removalPolicy,
  }),
  topUpKey: new Secret(stack, 'top-up-key', {
    description: 'Key that signs payment reports. The payment provider needs it.',
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
    removalPolicy,
  }),
  originSecret: new Secret(stack, 'origin-secret', {
    description:
      'Secret by which the functions recognize the edge. See docs/operations/deployment.md before you change it.',
    generateSecretString: { passwordLength: 48, excludePunctuation: true },
    removalPolicy,
  }),
});

/** The generated value is not an API key. `npm run check:deployed` replaces it, also after the secret was deleted. */
const addCanaryKey = (stack: Stack): Secret =>
  new Secret(stack, 'canary-key', {
    description: 'API key of the canary. To replace it, revoke it and run `npm run check:deployed`.',
    generateSecretString: { passwordLength: 32, excludePunctuation: true },
    removalPolicy: RemovalPolicy.DESTROY,
  });

/** Adds the outputs that the command line reads. */
const addOutputs = (stack: DataStack): void => {
  for (const [name, table] of Object.entries(stack.tables))
    new CfnOutput(stack, `${name}TableName`, { value: table.tableName });
  new CfnOutput(stack, 'mediaBucketName', { value: stack.media.bucketName });
  for (const [name, secret] of Object.entries(stack.secrets))
    new CfnOutput(stack, `${name}SecretArn`, { value: secret.secretArn });
};
