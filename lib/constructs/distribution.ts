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
  /** One for each function that answers clients, by its name, and whatever else the edge function may choose. */
  readonly origins: readonly CfnDistribution.OriginProperty[];
  /** Runs for every request. */
  readonly viewerFunctionArn: string;
  /** Runs for images that leave. */
  readonly mediaFunctionArn: string;
  /** What of a request for an image goes on: the bucket understands queries and headers in a way of its own. */
  readonly mediaRequestPolicyId: string;
}

/**
 * Passes everything on and keeps nothing. Made without CDK's own Distribution, which knows no origin without a path of its own, and
 * two have none: it is the edge function that chooses them.
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

/** Under its own name of AWS's, a distribution takes what TLS versions AWS lets it take. */
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
  // It adds what CloudFront knows of the client, `CloudFront-Viewer-Address` among it.
  originRequestPolicyId: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER.originRequestPolicyId,
  // What is compressed is held back until there is enough of it.
  compress: false,
  // A redirect would let a client go on sending its key in the clear.
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
