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
  /** Before every name in AWS. */
  readonly prefix: string;
  readonly environment: Environment;
  /** Every function a route leads to. */
  readonly called: ReadonlyMap<string, Called>;
}

/** Behind it addresses of the gateway begin, where it has no domain: a REST API always has one. */
const STAGE = 'gateway';

/**
 * API Gateway before every function: it calls them by permission, and they have no other address (AUTH-9). How much is let through is
 * counted in the functions, so that it limits nothing itself. What a client sends is never logged: it would hold prompts and keys.
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
      if (!found) throw new Error(`${name}: nothing that API Gateway could call`);
      return found;
    };
    this.name = prefix;
    const api = new SpecRestApi(this, 'api', {
      restApiName: prefix,
      apiDefinition: ApiDefinition.fromInline(toRestDefinition(prefix, calledOf)),
      endpointTypes: [EndpointType.REGIONAL],
      // As text their bytes would not survive. All else is text, so that it takes no more room in an event than it has to.
      binaryMediaTypes: ['multipart/form-data'],
      disableExecuteApiEndpoint: environment.domain !== undefined,
      deployOptions: toStage(this, { prefix, environment }),
      // API Gateway writes no access log without a role, of which an AWS account has one for all its APIs in a region.
      cloudWatchRole: true,
    });
    demandTls(api);
    // CDK's own output would show the address that a domain has switched off.
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

/** 1.2 at least, and nobody reaches the API by the name of another. */
const demandTls = (api: SpecRestApi): void => {
  const { defaultChild } = api.node;
  if (!(defaultChild instanceof CfnRestApi)) throw new Error('a REST API without its resource');
  defaultChild.securityPolicy = SecurityPolicy.TLS13_1_2_PQ_2025_09;
  defaultChild.endpointAccessMode = EndpointAccessMode.STRICT;
};

const toStage = (scope: Construct, { prefix, environment }: Omit<RestApiProps, 'called'>): StageOptions => ({
  stageName: STAGE,
  tracingEnabled: true,
  // An execution log holds bodies and headers.
  loggingLevel: MethodLoggingLevel.OFF,
  dataTraceEnabled: false,
  accessLogDestination: new LogGroupLogDestination(addLogGroup(scope, `/aws/apigateway/${prefix}`, environment)),
  accessLogFormat: AccessLogFormat.custom(JSON.stringify(logged)),
});

/** The path as the API declares it: one that a client sent may end in the name of an image, which is all it takes to fetch it. */
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
