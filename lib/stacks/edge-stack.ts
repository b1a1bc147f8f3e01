import { CfnOutput, SecretValue, type Stack } from 'aws-cdk-lib';
import {
  type CfnDistribution,
  Distribution as CloudFrontDistribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionRuntime,
  OriginRequestHeaderBehavior,
  OriginRequestPolicy,
  S3OriginAccessControl,
  Signing,
} from 'aws-cdk-lib/aws-cloudfront';
import { AaaaRecord, ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import * as z from 'zod';
import { routes } from '../../lambdas/routes.ts';
import { Distribution } from '../constructs/distribution.ts';
import { zoneOf } from '../constructs/domain-certificate.ts';
import { mediaFunctionCode, viewerFunctionCode } from '../edge/function-code.ts';
import { toBucketOrigin, toFunctionOrigin } from '../edge/origins.ts';
import type { Environment } from '../environments.ts';
import { publicUrlOf, publicUrlParameter } from '../public-url.ts';
import type { ApiStack } from './api-stack.ts';
import type { DataStack } from './data-stack.ts';
import { GatewayStack, type GatewayStackProps } from './gateway-stack.ts';
import type { GlobalStack } from './global-stack.ts';

export interface EdgeStackProps extends GatewayStackProps {
  readonly data: DataStack;
  readonly api: ApiStack;
  readonly global: GlobalStack;
}

/** Origin for images, which CloudFront reads from the bucket. */
const bucketOrigin = 'bucket';

/**
 * CloudFront in front of every function. The stack is in the region of the functions, because the origin secret can
 * only be resolved there.
 */
export class EdgeStack extends GatewayStack {
  readonly distributionId: string;

  constructor(scope: Construct, id: string, props: EdgeStackProps) {
    const { environment, prefix, api, global } = props;
    super(scope, id, props, {
      description:
        'Model gateway: the CloudFront distribution in front of all functions, its edge functions and DNS records.',
      crossRegionReferences: true,
    });
    // The stack reads hosts by output name, which CDK does not recognize as a dependency.
    this.addStackDependency(api);
    const distribution = new Distribution(this, 'edge', {
      prefix,
      environment,
      firewallArn: global.firewallArn,
      certificateArn: global.certificateArn,
      origins: [...functionOrigins(this, props), mediaOrigin(this, props)],
      ...addFunctions(this, props),
      mediaRequestPolicyId: addMediaRequestPolicy(this, prefix),
    });
    this.distributionId = distribution.id;
    addRecords(this, environment, distribution);
    const publicUrl = publicUrlOf(environment) ?? `https://${distribution.domainName}`;
    new StringParameter(this, 'public-url', { parameterName: publicUrlParameter(prefix), stringValue: publicUrl });
    new CfnOutput(this, 'publicUrl', { value: publicUrl });
    new CfnOutput(this, 'distributionId', { value: distribution.id });
  }
}

/** VersionId of a secret: https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_PutSecretValue.html */
const versionSchema = z.string().min(32).max(64).optional();

/**
 * Returns the origins of the functions. CloudFormation resolves a secret only if the property that contains it changes.
 * After a rotation, deploy with the new version as context `originSecretVersion`. The next deployment without it
 * changes the property again and uses the current version.
 */
const functionOrigins = (
  stack: Stack,
  { environment, data, api }: EdgeStackProps,
): readonly CfnDistribution.OriginProperty[] => {
  const { success, data: versionId } = versionSchema.safeParse(stack.node.tryGetContext('originSecretVersion'));
  if (!success) throw new Error('-c originSecretVersion: must be a VersionId of the secret, 32 to 64 characters.');
  const secret = SecretValue.secretsManager(data.secrets.originSecret.secretArn, { versionId }).unsafeUnwrap();
  return [...api.hosts].map(([id, host]) => toFunctionOrigin({ id, host, environment, secret }));
};

const mediaOrigin = (stack: Stack, { prefix, data }: EdgeStackProps): CfnDistribution.OriginProperty => {
  const { originAccessControlId } = new S3OriginAccessControl(stack, 'media-access', {
    originAccessControlName: `${prefix}-media`,
    signing: Signing.SIGV4_ALWAYS,
  });
  return toBucketOrigin(bucketOrigin, { domainName: data.media.bucketRegionalDomainName, originAccessControlId });
};

const addFunctions = (stack: Stack, { prefix, environment }: EdgeStackProps) => {
  const add = (name: string, code: string): string =>
    new EdgeFunction(stack, name, {
      functionName: `${prefix}-${name}`,
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(code),
    }).functionArn;
  const values = {
    largeBodyOrigin: largeBodyOrigin(environment),
    bucketOrigin,
    mediaOrigin: routes.getMedia.function,
  };
  return {
    viewerFunctionArn: add('viewer', viewerFunctionCode(values)),
    mediaFunctionArn: add('media', mediaFunctionCode()),
  };
};

/**
 * Returns the origin for large bodies. Empty if a Web Function serves all inference, because then there is no choice.
 */
const largeBodyOrigin = ({ largeBodies, inferenceHost }: Environment): string =>
  largeBodies === 'web-function' && inferenceHost === 'function-url' ? 'inference' : '';

/**
 * Adds the request policy of images: only the client IP, for the fallback function, and no header or query that S3
 * would interpret.
 */
const addMediaRequestPolicy = (stack: Stack, prefix: string): string =>
  new OriginRequestPolicy(stack, 'media-requests', {
    originRequestPolicyName: `${prefix}-media`,
    headerBehavior: OriginRequestHeaderBehavior.allowList('x-client-ip'),
  }).originRequestPolicyId;

const addRecords = (stack: Stack, { domain }: Environment, { id, domainName }: Distribution): void => {
  const zone = domain && zoneOf(stack, domain);
  if (!zone) return;
  const known = CloudFrontDistribution.fromDistributionAttributes(stack, 'known', { distributionId: id, domainName });
  const record = { zone, recordName: domain.name, target: RecordTarget.fromAlias(new CloudFrontTarget(known)) };
  new ARecord(stack, 'address', record);
  new AaaaRecord(stack, 'address-v6', record);
};
