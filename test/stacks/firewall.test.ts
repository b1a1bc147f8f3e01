import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { admitAddress } from '../../lambdas/core/accounts/admit.ts';
import { Firewall } from '../../lib/constructs/firewall.ts';
import { environments } from '../../lib/environments.ts';

const prefix = 'gateway-prod';
const resourcesSchema = z.record(z.string(), z.looseObject({ Properties: z.looseObject({}) }));

const build = (scope: 'CLOUDFRONT' | 'REGIONAL', environment = environments.prod) => {
  const stack = new Stack(new App(), 'stack', { env: { region: 'us-east-1' } });
  new Firewall(stack, 'firewall', { scope, prefix, environment });
  const template = Template.fromStack(stack);
  const one = (type: string) => {
    const [found, ...others] = Object.values(resourcesSchema.parse(template.findResources(type)));
    expect(others).toEqual([]);
    return found!;
  };
  return { acl: one('AWS::WAFv2::WebACL'), logging: one('AWS::WAFv2::LoggingConfiguration'), one };
};

const scopes = ['CLOUDFRONT', 'REGIONAL'] as const;

test.each(scopes)('OPS-2 the firewall for %s lets an address make 2,400 requests in 60 s', (scope) => {
  const { acl } = build(scope);
  expect(acl.Properties).toMatchObject({ Scope: scope, DefaultAction: { Allow: {} } });
  const [rule] = z.array(z.looseObject({})).parse(acl.Properties.Rules);
  expect(rule).toMatchObject({
    Priority: 0,
    Statement: { RateBasedStatement: { AggregateKeyType: 'IP', EvaluationWindowSec: 60, Limit: 2_400 } },
    Action: { Block: { CustomResponse: { ResponseCode: 429, CustomResponseBodyKey: 'too-many-requests' } } },
  });
});

test('OPS-2 how many it lets through is a setting', () => {
  const { acl } = build('CLOUDFRONT', { ...environments.prod, firewallRequestsPerMinute: 6_000 });
  expect(JSON.stringify(acl)).toContain('"Limit":6000');
});

test('OPS-2 who makes more hears what the program says of too many requests, with Retry-After: 1', async () => {
  const { acl } = build('CLOUDFRONT');
  const { Content, ContentType } = z
    .object({ 'too-many-requests': z.object({ Content: z.string(), ContentType: z.string() }) })
    .parse(acl.Properties.CustomResponseBodies)['too-many-requests'];
  const refused = await admitAddress(
    { addressLimit: { takeLocal: () => false } } as unknown as Parameters<typeof admitAddress>[0],
    '192.0.2.1',
  ).catch((error: unknown) => error);
  const { message, type, code, param } = z
    .object({ message: z.string(), type: z.string(), code: z.string(), param: z.null() })
    .parse(refused);
  expect([ContentType, JSON.parse(Content)]).toEqual(['APPLICATION_JSON', { error: { message, type, code, param } }]);
  expect(JSON.stringify(acl)).toContain('{"Name":"Retry-After","Value":"1"}');
  expect(JSON.stringify(acl)).toContain('{"Name":"Access-Control-Allow-Origin","Value":"*"}');
});

test("OPS-2 AWS's own lists only count, and nothing looks at how large a body is", () => {
  const { acl } = build('CLOUDFRONT');
  const [, ...others] = z.array(z.looseObject({ Name: z.string() })).parse(acl.Properties.Rules);
  expect(others.map(({ Name }) => Name)).toEqual([
    'AWSManagedRulesKnownBadInputsRuleSet',
    'AWSManagedRulesAmazonIpReputationList',
  ]);
  for (const rule of others) expect(rule).toMatchObject({ OverrideAction: { Count: {} } });
  expect(JSON.stringify(acl)).not.toMatch(/SizeConstraint|"Sample[^"]*":true|SampledRequestsEnabled":true/);
});

const headers = ['authorization', 'x-api-key', 'x-provider-api-key', 'x-goog-api-key'];

test.each(scopes)(
  'ERR-5 the firewall for %s writes down what it refused or counted, without keys or prompts',
  (scope) => {
    const { acl, logging, one } = build(scope);
    expect(logging.Properties).toMatchObject({
      RedactedFields: [{ QueryString: {} }, ...headers.map((Name) => ({ SingleHeader: { Name } }))],
      LoggingFilter: {
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
    const substituted = (Field: object) => ({ Action: 'SUBSTITUTION', Field });
    expect(acl.Properties.DataProtectionConfig).toEqual({
      DataProtections: [
        substituted({ FieldType: 'SINGLE_HEADER', FieldKeys: headers }),
        substituted({ FieldType: 'QUERY_STRING' }),
        substituted({ FieldType: 'BODY' }),
      ],
    });
    expect(one('AWS::Logs::LogGroup').Properties).toMatchObject({
      LogGroupName: 'aws-waf-logs-gateway-prod',
      RetentionInDays: environments.prod.logRetentionDays,
    });
    expect(JSON.stringify(logging.Properties.LogDestinationConfigs)).toMatch(/:log-group:aws-waf-logs-gateway-prod"/);
  },
);
