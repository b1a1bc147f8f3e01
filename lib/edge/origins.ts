import type { CfnDistribution } from 'aws-cdk-lib/aws-cloudfront';
import type { Environment } from '../environments.ts';

export interface FunctionOriginProps {
  /** What the edge function calls it by. */
  readonly id: string;
  readonly host: string;
  readonly environment: Environment;
  /** A reference that CloudFormation resolves: the secret itself is in no template. */
  readonly secret: string;
}

/** A function URL or the endpoint of a Web Function, which answer to their own host name only. */
export const toFunctionOrigin = ({
  id,
  host,
  environment,
  secret,
}: FunctionOriginProps): CfnDistribution.OriginProperty => ({
  id,
  domainName: host,
  originCustomHeaders: [{ headerName: 'x-origin-secret', headerValue: secret }],
  // How long CloudFront waits for all of an answer is left alone: it would cut one of 900 s.
  customOriginConfig: {
    originProtocolPolicy: 'https-only',
    originSslProtocols: ['TLSv1.2'],
    // Of silence: before the first byte, and between any two.
    originReadTimeout: environment.edgeTimeoutSeconds,
    originKeepaliveTimeout: 60,
  },
});

/** Read with signed requests of the distribution's own. */
export const toBucketOrigin = (
  id: string,
  { domainName, originAccessControlId }: { readonly domainName: string; readonly originAccessControlId: string },
): CfnDistribution.OriginProperty => ({
  id,
  domainName,
  originAccessControlId,
  // Without the older way of access, which has to be named to be left out.
  s3OriginConfig: { originAccessIdentity: '' },
});
