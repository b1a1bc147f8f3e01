import type { CfnDistribution } from 'aws-cdk-lib/aws-cloudfront';
import type { Environment } from '../environments.ts';

export interface FunctionOriginProps {
  /** Name by which the edge function selects the origin. */
  readonly id: string;
  readonly host: string;
  readonly environment: Environment;
  /** Reference that CloudFormation resolves, so that no template contains the secret. */
  readonly secret: string;
}

/** Returns the origin for a function URL or a Web Function's endpoint. Both accept only their own host name. */
export const toFunctionOrigin = ({
  id,
  host,
  environment,
  secret,
}: FunctionOriginProps): CfnDistribution.OriginProperty => ({
  id,
  domainName: host,
  originCustomHeaders: [{ headerName: 'x-origin-secret', headerValue: secret }],
  // The maximum time for a whole response is not set: it would cut off responses of 900 s.
  customOriginConfig: {
    originProtocolPolicy: 'https-only',
    originSslProtocols: ['TLSv1.2'],
    // Maximum silence before the first byte and between two bytes, in seconds.
    originReadTimeout: environment.edgeTimeoutSeconds,
    originKeepaliveTimeout: 60,
  },
});

/** Returns the origin for the bucket, which CloudFront reads with signed requests. */
export const toBucketOrigin = (
  id: string,
  { domainName, originAccessControlId }: { readonly domainName: string; readonly originAccessControlId: string },
): CfnDistribution.OriginProperty => ({
  id,
  domainName,
  originAccessControlId,
  // An empty value turns off the older access method.
  s3OriginConfig: { originAccessIdentity: '' },
});
