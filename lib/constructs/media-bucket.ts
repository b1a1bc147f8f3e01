import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

/**
 * Prefixes of objects that may be deleted after 24 hours (IMG-6, IDEM-7, VID-7). Lifecycle rules count days from
 * midnight, so two days are the minimum that never deletes an object early. Readers also check the expiry. `outbox/`
 * must not be listed: its entries are uncommitted charges. The bucket is versioned, so a deleted object stays one more
 * day as a noncurrent version.
 */
const expiringPrefixes = ['media/', 'videos/', 'answers/', 'inputs/'] as const;

/**
 * Days for which deleted outbox entries can be replayed: the longest time back to which a table can be restored
 * (docs/operations/restore.md). S3 needs no rule for their count, because few charges pass through the outbox.
 */
const OUTBOX_HISTORY_DAYS = 35;

/** Private bucket, retained with its content, because only a function could empty it before a deletion. */
export class MediaBucket extends Bucket {
  constructor(scope: Construct, id: string) {
    super(scope, id, {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      removalPolicy: RemovalPolicy.RETAIN,
      versioned: true,
      lifecycleRules: [
        { id: 'unfinished-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
        ...expiringPrefixes.map((prefix) => ({
          id: `expired-${prefix.slice(0, -1)}`,
          prefix,
          expiration: Duration.days(2),
          noncurrentVersionExpiration: Duration.days(1),
        })),
        {
          id: 'outbox-history',
          prefix: 'outbox/',
          noncurrentVersionExpiration: Duration.days(OUTBOX_HISTORY_DAYS),
          expiredObjectDeleteMarker: true,
        },
        // Each deployment replaces the pages.
        {
          id: 'replaced-pages',
          prefix: 'pages/',
          noncurrentVersionExpiration: Duration.days(1),
          expiredObjectDeleteMarker: true,
        },
      ],
    });
  }

  /**
   * Lets this account's CloudFront distributions read images. Their ids are unknown here: the bucket is created first.
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
