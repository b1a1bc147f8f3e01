import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { FunctionUrlAuthType, InvokeMode } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type FunctionSettings, GatewayFunction } from '../constructs/gateway-function.ts';
import type { Environment } from '../environments.ts';
import { type FunctionName, functionNames, functions, type SecretName } from '../functions.ts';
import type { DataStack } from './data-stack.ts';

export interface ApiStackProps {
  readonly environment: Environment;
  /** Before the stack's name and every function's. */
  readonly prefix: string;
  readonly data: DataStack;
}

/** The functions and what calls them. Nothing here has state. */
export class ApiStack extends Stack {
  constructor(scope: Construct, id: string, props: ApiStackProps) {
    const { environment, prefix } = props;
    super(scope, id, { stackName: `${prefix}-${id}`, terminationProtection: environment.terminationProtection });
    for (const name of functionNames) {
      const built = new GatewayFunction(this, { ...props, name, settings: toSettings(name, props) });
      if (functions[name].trigger === 'url') addUrl(this, name, built);
      else callEveryMinute(built);
    }
  }
}

const secretSettings = {
  keyPepper: 'KEY_PEPPER_SECRET',
  providerKeys: 'PROVIDER_KEYS_SECRET',
} as const satisfies Record<SecretName, keyof FunctionSettings>;

const toSettings = (name: FunctionName, { environment, data }: ApiStackProps): FunctionSettings => {
  const secrets = functions[name].secrets.map((secret) => [secretSettings[secret], data.secrets[secret].secretArn]);
  return {
    ACCOUNTS_TABLE: data.tables.accounts.tableName,
    KEYS_TABLE: data.tables.keys.tableName,
    COUNTERS_TABLE: data.tables.counters.tableName,
    IDEMPOTENCY_TABLE: data.tables.idempotency.tableName,
    MEDIA_BUCKET: data.media.bucketName,
    MARKUP: environment.markup,
    LOG_FORMAT: 'json',
    ...Object.fromEntries(secrets),
  };
};

/**
 * Open to everyone, because SDK clients do not sign for AWS: the gateway's own keys are what lets a caller in. Once there is an
 * edge, a header only it knows shuts the direct way. The functions answer CORS themselves; a URL that did so too would send
 * each header twice.
 */
const addUrl = (stack: ApiStack, name: FunctionName, { lambda }: GatewayFunction): void => {
  const url = lambda.addFunctionUrl({ authType: FunctionUrlAuthType.NONE, invokeMode: InvokeMode.RESPONSE_STREAM });
  new CfnOutput(stack, `${name}Url`, { value: url.url });
};

/** A call that failed is not repeated: the next one comes within the minute and finds the same work. */
const callEveryMinute = (built: GatewayFunction): void => {
  built.lambda.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
  new Rule(built, 'schedule', {
    schedule: Schedule.rate(Duration.minutes(1)),
    targets: [new LambdaTarget(built.lambda, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
  });
};
