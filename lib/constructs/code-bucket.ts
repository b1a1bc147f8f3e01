import { RemovalPolicy } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { WebFunctionCode } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import { Construct } from 'constructs';
import type { Environment } from '../environments.ts';
import { type Bundled, codeOf } from './bundled-code.ts';
import { addLogGroup, allow } from './function-role.ts';

export interface CodeBucketProps {
  readonly prefix: string;
  readonly environment: Environment;
}

/**
 * Bucket from which Lambda reads the code of Web Functions at every start. Lambda cannot read CDK's asset bucket. A CDK
 * function copies the code during a deployment, with the role defined here, because CDK's own role would have wildcard
 * actions.
 */
export class CodeBucket extends Construct {
  readonly #bucket: Bucket;
  readonly #copyLog: LogGroup;
  readonly #copyRole: Role;

  constructor(scope: Construct, id: string, { prefix, environment }: CodeBucketProps) {
    super(scope, id);
    this.#bucket = new Bucket(this, 'bucket', {
      versioned: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      // Each copy is deleted with the revision that uses it, so the bucket is empty when it is deleted.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.#copyLog = addLogGroup(this, `/aws/lambda/${prefix}-code-copy`, environment);
    this.#copyRole = new Role(this, 'copy-role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.#copyLog.grantWrite(this.#copyRole);
    this.#copyRole.addToPolicy(
      allow(['s3:PutObject', 's3:DeleteObjectVersion'], this.#bucket.arnForObjects('web-function/*')),
    );
    if (environment.bootstrapKeyArn !== undefined)
      this.#copyRole.addToPolicy(allow(['kms:Decrypt'], environment.bootstrapKeyArn));
  }

  /** Copies the bundle of a function to this bucket. */
  codeOf(name: string, description: Bundled): WebFunctionCode {
    const { path, options } = codeOf(name, description);
    const { bucket: uploads } = new Asset(this, name, { path, ...options });
    this.#copyRole.addToPolicy(allow(['s3:GetObject', 's3:GetObjectVersion'], uploads.arnForObjects('*')));
    return WebFunctionCode.fromAssetToProvidedBucket(this.#bucket, path, {
      ...options,
      copyOptions: { role: this.#copyRole.withoutPolicyUpdates(), logGroup: this.#copyLog },
    });
  }
}
