import { ArnFormat, Stack } from 'aws-cdk-lib';
import { CfnLoggingConfiguration, CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import type { Environment } from '../environments.ts';
import { addLogGroup } from './function-role.ts';

export interface FirewallProps {
  /** CLOUDFRONT is in us-east-1; REGIONAL is in the region of what it protects. */
  readonly scope: 'CLOUDFRONT' | 'REGIONAL';
  /** Prefix of every name in AWS. */
  readonly prefix: string;
  readonly environment: Environment;
}

/**
 * Coarse limit of requests per client IP and minute (OPS-2). The functions count exact limits per second (LIM-1). The
 * firewall does not limit body sizes, and no rule blocks a request by its body, because prompts can contain anything.
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

/** Same error as from the functions (GEN-3), but without a request id, because no log here contains one. */
const tooManyRequests = {
  error: {
    message: 'Too many requests from this client IP. Send fewer requests and retry.',
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    param: null,
  },
};

/** Sampled requests are off: they would show headers and queries with keys to everyone with access to the console. */
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
        // Pages of other origins may read this response, like all others (GEN-13).
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

/**
 * AWS rule groups that only count matches. Before a group is changed to block requests, check which requests it would
 * block.
 */
const watching = ['AWSManagedRulesKnownBadInputsRuleSet', 'AWSManagedRulesAmazonIpReputationList'] as const;

const toWatchingRule = (name: (typeof watching)[number], index: number): CfnWebACL.RuleProperty => ({
  name,
  priority: index + 1,
  statement: { managedRuleGroupStatement: { vendorName: 'AWS', name } },
  overrideAction: { count: {} },
  visibilityConfig: toMetric(name),
});

/** Headers with credentials of clients, the messenger, the payment provider and the edge. */
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
 * Removed from all data of the firewall. Log redaction does not cover the matched data that rules report. The firewall
 * sees the query before the edge function removes a key from it.
 */
const secretFields: readonly CfnWebACL.FieldToProtectProperty[] = [
  { fieldType: 'SINGLE_HEADER', fieldKeys: secretHeaders },
  { fieldType: 'QUERY_STRING' },
  { fieldType: 'BODY' },
];

/** Logs only requests that a rule blocked or counted. CloudFront and API Gateway have their own access logs. */
const addLog = (
  scope: Construct,
  resourceArn: string,
  { scope: guarded, prefix, environment }: FirewallProps,
): void => {
  // AWS requires this prefix. Both firewalls may have a log in us-east-1 after a change of the front door, so their
  // names differ.
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
    // The log group's own ARN ends with `:*`, which this property rejects.
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
