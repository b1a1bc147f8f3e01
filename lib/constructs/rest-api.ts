import { CfnOutput, Stack } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  ApiDefinition,
  CfnRestApi,
  EndpointAccessMode,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  SecurityPolicy,
  SpecRestApi,
  type StageOptions,
} from 'aws-cdk-lib/aws-apigateway';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import type { HttpFunction } from '../../lambdas/routes.ts';
import type { Environment } from '../environments.ts';
import { publicUrlParameter } from '../public-url.ts';
import { Firewall } from './firewall.ts';
import { addLogGroup } from './function-role.ts';
import { type Called, toRestDefinition } from './rest-definition.ts';
import { addRestDomain } from './rest-domain.ts';

export interface RestApiProps {
  /** Prefix of every name in AWS. */
  readonly prefix: string;
  readonly environment: Environment;
  /** Every function that a route names. */
  readonly called: ReadonlyMap<string, Called>;
}

/** First path segment of the URLs without a domain. A REST API always has a stage. */
const STAGE = 'gateway';

/**
 * API Gateway in front of every function. Functions have no other URL, and only API Gateway has permission to call them
 * (AUTH-9). It sets no limits, because the functions count requests. It never logs what clients send, because that
 * contains prompts and keys.
 */
export class RestApi extends Construct {
  readonly publicUrl: string;
  /** Undefined without a domain. */
  readonly certificateArn: string | undefined;
  readonly name: string;
  readonly stage = STAGE;

  constructor(scope: Construct, id: string, { prefix, environment, called }: RestApiProps) {
    super(scope, id);
    const calledOf = (name: HttpFunction): Called => {
      const found = called.get(name);
      if (!found) throw new Error(`${name}: there is no such function for API Gateway to call.`);
      return found;
    };
    this.name = prefix;
    const api = new SpecRestApi(this, 'api', {
      restApiName: prefix,
      apiDefinition: ApiDefinition.fromInline(toRestDefinition(prefix, calledOf)),
      endpointTypes: [EndpointType.REGIONAL],
      // Forms must arrive as bytes. Other bodies stay text, because Base64 would take more of the event's size.
      binaryMediaTypes: ['multipart/form-data'],
      disableExecuteApiEndpoint: environment.domain !== undefined,
      deployOptions: toStage(this, { prefix, environment }),
      // API Gateway needs a role to write access logs. An AWS account has one such role per region for all its APIs.
      cloudWatchRole: true,
    });
    demandTls(api);
    // CDK's output would show the default URL, which is off if there is a domain.
    api.node.tryRemoveChild('Endpoint');
    for (const { lambda } of called.values())
      lambda.addPermission('rest-api', {
        principal: new ServicePrincipal('apigateway.amazonaws.com'),
        sourceArn: api.arnForExecuteApi('*', '/*', STAGE),
      });
    const { arn } = new Firewall(this, 'firewall', { scope: 'REGIONAL', prefix, environment });
    new CfnWebACLAssociation(this, 'guarded', { webAclArn: arn, resourceArn: api.deploymentStage.stageArn });
    const domain = environment.domain && addRestDomain(this, { domain: environment.domain, api });
    this.certificateArn = domain?.certificateArn;
    this.publicUrl = domain
      ? domain.url
      : `https://${api.restApiId}.execute-api.${Stack.of(this).region}.${Stack.of(this).urlSuffix}/${STAGE}`;
    new StringParameter(this, 'public-url', {
      parameterName: publicUrlParameter(prefix),
      stringValue: this.publicUrl,
    });
    new CfnOutput(Stack.of(this), 'publicUrl', { value: this.publicUrl });
  }
}

/** Requires TLS 1.2 or later, and a host name that matches the API. */
const demandTls = (api: SpecRestApi): void => {
  const { defaultChild } = api.node;
  if (!(defaultChild instanceof CfnRestApi)) throw new Error('The REST API has no CloudFormation resource.');
  defaultChild.securityPolicy = SecurityPolicy.TLS13_1_2_PQ_2025_09;
  defaultChild.endpointAccessMode = EndpointAccessMode.STRICT;
};

const toStage = (scope: Construct, { prefix, environment }: Omit<RestApiProps, 'called'>): StageOptions => ({
  stageName: STAGE,
  tracingEnabled: true,
  // Execution logs contain bodies and headers.
  loggingLevel: MethodLoggingLevel.OFF,
  dataTraceEnabled: false,
  accessLogDestination: new LogGroupLogDestination(addLogGroup(scope, `/aws/apigateway/${prefix}`, environment)),
  accessLogFormat: AccessLogFormat.custom(JSON.stringify(logged)),
});

/**
 * Fields of the access log. Logs the declared path only: a requested path may end in an image name, which is enough to
 * read the image.
 */
const logged = {
  time: AccessLogField.contextRequestTime(),
  requestId: AccessLogField.contextRequestId(),
  extendedRequestId: AccessLogField.contextExtendedRequestId(),
  traceId: AccessLogField.contextXrayTraceId(),
  address: AccessLogField.contextIdentitySourceIp(),
  method: AccessLogField.contextHttpMethod(),
  path: AccessLogField.contextResourcePath(),
  protocol: AccessLogField.contextProtocol(),
  status: AccessLogField.contextStatus(),
  errorType: AccessLogField.contextErrorResponseType(),
  bytes: AccessLogField.contextResponseLength(),
  latencyMs: AccessLogField.contextResponseLatency(),
  functionLatencyMs: AccessLogField.contextIntegrationLatency(),
  firewall: AccessLogField.contextWafResponseCode(),
};
