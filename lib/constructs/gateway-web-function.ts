import { Annotations, Aws, CfnResource, Duration } from 'aws-cdk-lib';
import {
  NetworkConnector,
  NetworkConnectorComputeType,
  NetworkConnectorConfiguration,
  WebFunction,
  WebFunctionAuthType,
  WebFunctionRuntime,
} from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { WebFunctionDescription } from '../function-description.ts';
import type { CodeBucket } from './code-bucket.ts';
import { addFunctionRole, addLogGroup } from './function-role.ts';
import { toGrants, toSettings } from './function-settings.ts';
import type { GatewayFunctionProps } from './gateway-function.ts';
import type { ProviderNetwork } from './provider-network.ts';

export interface GatewayWebFunctionProps extends GatewayFunctionProps<WebFunctionDescription> {
  readonly code: CodeBucket;
}

/** Returns the name with the region: names of Web Functions are unique in an AWS account across regions. */
export const webFunctionNameOf = (functionName: string): string => `${functionName}-${Aws.REGION}`;

/**
 * Web Function according to its description: a server that listens on the host and port in AWS_LAMBDA_HTTP_ENDPOINT
 * within 10 s of its start. https://docs.aws.amazon.com/lambda/latest/dg/web-functions-runtimes.html
 */
export class GatewayWebFunction extends Construct {
  readonly webFunction: WebFunction;

  constructor(scope: Construct, props: GatewayWebFunctionProps) {
    const { name, description, prefix, environment, data, machineArn, network, code } = props;
    super(scope, name);
    const functionName = `${prefix}-${name}`;
    const webFunctionName = webFunctionNameOf(functionName);
    const logGroup = addLogGroup(this, `/aws/lambda/${functionName}`, environment);
    const role = addFunctionRole(this, { description, data, machineArn, ...toGrants(this, props) });
    logGroup.grantWrite(role);
    this.webFunction = new WebFunction(this, 'function', {
      webFunctionName,
      runtime: WebFunctionRuntime.NODEJS_24_X,
      code: code.codeOf(name, description),
      // With another file extension than `.mjs`, Node would look for a package.json.
      entryPoint: 'index.mjs',
      role,
      logGroup,
      timeout: Duration.seconds(description.timeoutSeconds),
      maxConcurrencyPerEnvironment: description.concurrency,
      ...(network && { egressNetworkConnector: connectorTo(this, network) }),
      environment: {
        ...toSettings(name, props),
        FUNCTION_NAME: functionName,
        // Distinguishes the environments of one AWS account in logs and metrics.
        POWERTOOLS_SERVICE_NAME: prefix,
      },
      defaultEndpointAuth: WebFunctionAuthType.APPLICATION_MANAGED,
    });
    Annotations.of(this).acknowledgeWarning(
      '@aws-cdk/aws-lambda:webFunctionPublicEndpoint',
      "SDK clients do not sign requests for AWS. As with function URLs, the gateway's API keys control access.",
    );
    copyByContent(this.webFunction);
    // Replace the ARN that CDK sets on the revision and on the endpoint. With an ARN, CloudFormation cannot read the
    // endpoint's domain name.
    for (const part of [this.webFunction.resourceRevision, this.webFunction.endpoint.resource])
      part.addPropertyOverride('FunctionName', webFunctionName);
  }
}

/**
 * Makes the name of the code's copy depend only on its content. By default, the name also depends on the function's
 * settings, which CDK renders before it knows references to other stacks, and CloudFormation rejects the result. The
 * content is sufficient, because no revision outlives its copy.
 */
const copyByContent = (webFunction: WebFunction): void => {
  for (const child of webFunction.node.findAll())
    if (CfnResource.isCfnResource(child) && child.cfnResourceType === 'Custom::S3ObjectCopy')
      child.addPropertyDeletionOverride('Configuration');
};

/** Adds the connector through which a Web Function starts its connections from a network. */
const connectorTo = (scope: Construct, { vpc, subnets, securityGroups }: ProviderNetwork): NetworkConnector =>
  new NetworkConnector(scope, 'network', {
    configuration: NetworkConnectorConfiguration.vpcEgress({
      computeType: NetworkConnectorComputeType.WEB_FUNCTION,
      vpc,
      vpcSubnets: { subnets: [...subnets] },
      securityGroups: [...securityGroups],
    }),
  });
