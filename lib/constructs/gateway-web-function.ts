import { Annotations, Aws, CfnResource, Duration } from 'aws-cdk-lib';
import { WebFunction, WebFunctionAuthType, WebFunctionRuntime } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { WebFunctionDescription } from '../function-description.ts';
import type { CodeBucket } from './code-bucket.ts';
import { addFunctionRole, addLogGroup } from './function-role.ts';
import { toGrants, toSettings } from './function-settings.ts';
import type { GatewayFunctionProps } from './gateway-function.ts';

export interface GatewayWebFunctionProps extends GatewayFunctionProps<WebFunctionDescription> {
  readonly code: CodeBucket;
}

/** Unlike those of other functions, these names are unique in an AWS account, whatever the region. */
export const webFunctionNameOf = (functionName: string): string => `${functionName}-${Aws.REGION}`;

/**
 * A Web Function as it is described: a server that listens where AWS_LAMBDA_HTTP_ENDPOINT says, host and port, within 10 s
 * of its start. https://docs.aws.amazon.com/lambda/latest/dg/web-functions-runtimes.html
 */
export class GatewayWebFunction extends Construct {
  readonly webFunction: WebFunction;

  constructor(scope: Construct, props: GatewayWebFunctionProps) {
    const { name, description, prefix, environment, data, machineArn, code } = props;
    super(scope, name);
    const functionName = `${prefix}-${name}`;
    const webFunctionName = webFunctionNameOf(functionName);
    const logGroup = addLogGroup(this, `/aws/lambda/${functionName}`, environment);
    const role = addFunctionRole(this, { description, data, machineArn, ...toGrants(this, props) });
    logGroup.grantWrite(role);
    this.webFunction = new WebFunction(this, 'function', {
      webFunctionName,
      runtime: WebFunctionRuntime.NODEJS_24_X,
      code: code.codeOf(name, description.entry),
      // Without an ending of `.mjs` Node would look for a package.json.
      entryPoint: 'index.mjs',
      role,
      logGroup,
      timeout: Duration.seconds(description.timeoutSeconds),
      maxConcurrencyPerEnvironment: description.concurrency,
      environment: {
        ...toSettings(name, props),
        FUNCTION_NAME: functionName,
        // By it the environments of one account are told apart in logs and metrics.
        POWERTOOLS_SERVICE_NAME: prefix,
      },
      defaultEndpointAuth: WebFunctionAuthType.APPLICATION_MANAGED,
    });
    Annotations.of(this).acknowledgeWarning(
      '@aws-cdk/aws-lambda:webFunctionPublicEndpoint',
      "SDK clients do not sign for AWS: the gateway's own keys are what lets a caller in, as with the function URLs.",
    );
    copyByContent(this.webFunction);
    // CDK gives both the ARN, with which CloudFormation creates an endpoint whose domain name it cannot read then.
    for (const part of [this.webFunction.resourceRevision, this.webFunction.endpoint.resource])
      part.addPropertyOverride('FunctionName', webFunctionName);
  }
}

/**
 * The copy of the code is named by what is in it and by all the settings of the function, and the latter is rendered before CDK knows
 * references to other stacks: CloudFormation would refuse it. By its content alone it is as good, since no revision outlives its copy.
 */
const copyByContent = (webFunction: WebFunction): void => {
  for (const child of webFunction.node.findAll())
    if (CfnResource.isCfnResource(child) && child.cfnResourceType === 'Custom::S3ObjectCopy')
      child.addPropertyDeletionOverride('Configuration');
};
