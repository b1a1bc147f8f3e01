import { CachePolicy, CfnDistribution, OriginRequestPolicy } from 'aws-cdk-lib/aws-cloudfront';
import { Construct } from 'constructs';
import { functionForUnknownRoutes, routes } from '../../lambdas/routes.ts';
import { toBehaviours } from '../edge/behaviours.ts';
import type { Environment } from '../environments.ts';

export interface DistributionProps {
  readonly prefix: string;
  readonly environment: Environment;
  readonly firewallArn: string;
  /** Undefined without a domain. */
  readonly certificateArn: string | undefined;
  /**
   * One origin per function that serves clients, with the function's name as its id, and other origins that the edge
   * function can select.
   */
  readonly origins: readonly CfnDistribution.OriginProperty[];
  /** ARN of the edge function that runs for every request. */
  readonly viewerFunctionArn: string;
  /** ARN of the edge function that runs for responses with images. */
  readonly mediaFunctionArn: string;
  /**
   * Id of the policy for image requests. It limits what reaches the bucket, because S3 interprets queries and headers
   * itself.
   */
  readonly mediaRequestPolicyId: string;
}

/**
 * CloudFront distribution that forwards every request and caches nothing. Does not use CDK's Distribution, which
 * requires a behavior for every origin: the edge function selects two of the origins.
 */
export class Distribution extends Construct {
  readonly id: string;
  readonly domainName: string;

  constructor(scope: Construct, id: string, props: DistributionProps) {
    super(scope, id);
    const { environment, prefix, firewallArn, certificateArn, origins } = props;
    const distribution = new CfnDistribution(this, 'distribution', {
      distributionConfig: {
        enabled: true,
        comment: prefix,
        httpVersion: 'http2and3',
        ipv6Enabled: true,
        webAclId: firewallArn,
        ...(environment.domain ? { aliases: [environment.domain.name] } : {}),
        viewerCertificate: toViewerCertificate(certificateArn),
        origins: [...origins],
        defaultCacheBehavior: toBehaviour(props, functionForUnknownRoutes),
        cacheBehaviors: toBehaviours(routes).map(({ pattern, function: owner }) => ({
          ...toBehaviour(props, owner),
          ...(pattern === mediaPattern ? ofMedia(props) : {}),
          pathPattern: pattern,
        })),
      },
    });
    this.id = distribution.ref;
    this.domainName = distribution.attrDomainName;
  }
}

const mediaPattern = routes.getMedia.path.replace('{name}', '*');

/** Returns the certificate. Without a domain, AWS chooses the TLS versions. */
const toViewerCertificate = (acmCertificateArn: string | undefined): CfnDistribution.ViewerCertificateProperty =>
  acmCertificateArn === undefined
    ? { cloudFrontDefaultCertificate: true }
    : { acmCertificateArn, sslSupportMethod: 'sni-only', minimumProtocolVersion: 'TLSv1.2_2021' };

const toBehaviour = (
  { viewerFunctionArn }: DistributionProps,
  targetOriginId: string,
): CfnDistribution.DefaultCacheBehaviorProperty => ({
  targetOriginId,
  allowedMethods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'],
  cachePolicyId: CachePolicy.CACHING_DISABLED.cachePolicyId,
  // The edge function adds the client IP, because this policy may not include CloudFront's own header for it.
  originRequestPolicyId: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER.originRequestPolicyId,
  // The policy without a cache turns compression off, and compression would delay streams. The content function sends
  // pages compressed (REF-7): https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/ServingCompressedFiles.html
  compress: false,
  // Do not redirect from HTTP: a client would keep sending its key unencrypted.
  viewerProtocolPolicy: 'https-only',
  functionAssociations: [{ eventType: 'viewer-request', functionArn: viewerFunctionArn }],
});

const ofMedia = ({ viewerFunctionArn, mediaFunctionArn, mediaRequestPolicyId }: DistributionProps) => ({
  originRequestPolicyId: mediaRequestPolicyId,
  functionAssociations: [
    { eventType: 'viewer-request', functionArn: viewerFunctionArn },
    { eventType: 'viewer-response', functionArn: mediaFunctionArn },
  ],
});
