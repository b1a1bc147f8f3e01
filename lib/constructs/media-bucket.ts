import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

/**
 * What may go once its day is over (IMG-6, IDEM-7, VID-7). Lifecycle rules count whole days up to a midnight, so two of them
 * are the least that never takes an object before its 24 hours end; whoever hands one out checks its expiry as well.
 * `outbox/` is not here and must not be: a note there is money not yet charged.
 */
const expiringPrefixes = ['media/', 'videos/', 'answers/', 'inputs/'] as const;

/** Private, and kept with whatever it holds: a bucket that is not empty could only be removed by a function that empties it. */
export class MediaBucket extends Bucket {
  constructor(scope: Construct, id: string) {
    super(scope, id, {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      removalPolicy: RemovalPolicy.RETAIN,
      lifecycleRules: [
        { id: 'unfinished-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
        ...expiringPrefixes.map((prefix) => ({
          id: `expired-${prefix.slice(0, -1)}`,
          prefix,
          expiration: Duration.days(2),
        })),
      ],
    });
  }

  /**
   * CloudFront may read images, for distributions of this account. Which one it is cannot be said here: it needs the bucket before it
   * can stand.
   */
  letEdgeReadMedia(): void {
    const stack = Stack.of(this);
    const distributions = stack.formatArn({
      service: 'cloudfront',
      region: '',
      resource: 'distribution',
      resourceName: '*',
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    });
    this.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudfront.amazonaws.com')],
        actions: ['s3:GetObject'],
        resources: [this.arnForObjects('media/*')],
        conditions: {
          StringEquals: { 'AWS:SourceAccount': stack.account },
          ArnLike: { 'AWS:SourceArn': distributions },
        },
      }),
    );
  }
}
