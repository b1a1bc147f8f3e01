import { ArnFormat, Stack } from 'aws-cdk-lib';
import { CfnLoggingConfiguration, CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import type { Environment } from '../environments.ts';
import { addLogGroup } from './function-role.ts';

export interface FirewallProps {
  /** CLOUDFRONT stands in us-east-1; REGIONAL beside what it guards. */
  readonly scope: 'CLOUDFRONT' | 'REGIONAL';
  /** Before every name in AWS. */
  readonly prefix: string;
  readonly environment: Environment;
}

/**
 * The coarse wall (OPS-2): so many requests of one address in a minute. What is allowed in a second is counted in the functions, exactly
 * (LIM-1). Nothing here looks at how large a body is, and no rule of a body's content refuses anything: prompts look like anything.
 */
export class Firewall extends Construct {
  readonly arn: string;

  constructor(scope: Construct, id: string, { scope: guarded, prefix, environment }: FirewallProps) {
    super(scope, id);
    const firewall = new CfnWebACL(this, 'acl', {
      name: `${prefix}-firewall`,
      scope: guarded,
      defaultAction: { allow: {} },
      customResponseBodies: {
        [tooMany]: { contentType: 'APPLICATION_JSON', content: JSON.stringify(tooManyRequests) },
      },
      rules: [rateRule(environment), ...watching.map(toWatchingRule)],
      dataProtectionConfig: { dataProtections: secretFields.map((field) => ({ field, action: 'SUBSTITUTION' })) },
      visibilityConfig: toMetric(`${prefix}-firewall`),
    });
    this.arn = firewall.attrArn;
    addLog(this, this.arn, { scope: guarded, prefix, environment });
  }
}

const tooMany = 'too-many-requests';

/** As the functions would say it (GEN-3), but for a request id, which nobody could look up here. */
const tooManyRequests = {
  error: {
    message: 'Too many requests from this client IP. Send fewer requests and retry.',
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    param: null,
  },
};

/** No sampled requests: they would show headers and queries, and with them keys, to whoever may open the console. */
const toMetric = (metricName: string): CfnWebACL.VisibilityConfigProperty => ({
  cloudWatchMetricsEnabled: true,
  metricName,
  sampledRequestsEnabled: false,
});

const rateRule = ({ firewallRequestsPerMinute }: Environment): CfnWebACL.RuleProperty => ({
  name: 'requests-per-address',
  priority: 0,
  statement: {
    rateBasedStatement: { aggregateKeyType: 'IP', evaluationWindowSec: 60, limit: firewallRequestsPerMinute },
  },
  action: {
    block: {
      customResponse: {
        responseCode: 429,
        customResponseBodyKey: tooMany,
        // A page of another origin may read the refusal, as it may every other answer (GEN-13).
        responseHeaders: [
          { name: 'Retry-After', value: '1' },
          { name: 'Access-Control-Allow-Origin', value: '*' },
          { name: 'Access-Control-Expose-Headers', value: '*' },
        ],
      },
    },
  },
  visibilityConfig: toMetric('requests-per-address'),
});

/** AWS's own lists, which only count: what they would refuse has to be seen before they may refuse it. */
const watching = ['AWSManagedRulesKnownBadInputsRuleSet', 'AWSManagedRulesAmazonIpReputationList'] as const;

const toWatchingRule = (name: (typeof watching)[number], index: number): CfnWebACL.RuleProperty => ({
  name,
  priority: index + 1,
  statement: { managedRuleGroupStatement: { vendorName: 'AWS', name } },
  overrideAction: { count: {} },
  visibilityConfig: toMetric(name),
});

/** All that anybody proves itself with: clients, the messenger, who reports payments, the edge. */
const secretHeaders = [
  'authorization',
  'x-api-key',
  'x-provider-api-key',
  'x-goog-api-key',
  'x-telegram-bot-api-secret-token',
  'x-service-signature',
  'x-origin-secret',
];

/**
 * Kept out of all that the firewall tells, also where a rule says what it has matched: redaction, which the log has besides, leaves
 * that as it is. The firewall sees the query before anything takes the key out of it.
 */
const secretFields: readonly CfnWebACL.FieldToProtectProperty[] = [
  { fieldType: 'SINGLE_HEADER', fieldKeys: secretHeaders },
  { fieldType: 'QUERY_STRING' },
  { fieldType: 'BODY' },
];

/** Of what a rule has refused or counted, and of nothing else: the functions and the edge write down every request as it is. */
const addLog = (
  scope: Construct,
  resourceArn: string,
  { scope: guarded, prefix, environment }: FirewallProps,
): void => {
  // AWS takes no other beginning. In us-east-1 the environment may have had the other firewall before, whose log is kept.
  const logGroupName = `aws-waf-logs-${prefix}-${guarded === 'CLOUDFRONT' ? 'edge' : 'regional'}`;
  const log = addLogGroup(scope, logGroupName, environment);
  const destination = Stack.of(scope).formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: logGroupName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const logging = new CfnLoggingConfiguration(scope, 'logging', {
    resourceArn,
    // The group's own ARN ends with a `:*`, which is refused here.
    logDestinationConfigs: [destination],
    redactedFields: [
      { uriPath: {} },
      { queryString: {} },
      ...secretHeaders.map((Name) => ({ singleHeader: { Name } })),
    ],
    loggingFilter: {
      DefaultBehavior: 'DROP',
      Filters: [
        {
          Behavior: 'KEEP',
          Requirement: 'MEETS_ANY',
          Conditions: ['BLOCK', 'COUNT', 'EXCLUDED_AS_COUNT'].map((Action) => ({ ActionCondition: { Action } })),
        },
      ],
    },
  });
  logging.node.addDependency(log);
};
