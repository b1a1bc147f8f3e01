import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { admitAddress } from '../../lambdas/core/accounts/admit.ts';
import { authenticateCaller, credentialForms, isKeyCredential } from '../../lambdas/http/authenticate.ts';
import { createEdgeFrontDoor } from '../../lambdas/http/front-door.ts';
import { type Route, routes } from '../../lambdas/routes.ts';
import { Firewall } from '../../lib/constructs/firewall.ts';
import { environments } from '../../lib/environments.ts';
import { newApp } from './synthesize.ts';

const prefix = 'gateway-prod';
const resourcesSchema = z.record(z.string(), z.looseObject({ Properties: z.looseObject({}) }));

const build = (scope: 'CLOUDFRONT' | 'REGIONAL', environment = environments.prod) => {
  const stack = new Stack(newApp(), 'stack', { env: { region: 'us-east-1' } });
  new Firewall(stack, 'firewall', { scope, prefix, environment });
  const template = Template.fromStack(stack);
  const one = (type: string) => {
    const [found, ...others] = Object.values(resourcesSchema.parse(template.findResources(type)));
    expect(others).toEqual([]);
    return found!;
  };
  return { acl: one('AWS::WAFv2::WebACL'), logging: one('AWS::WAFv2::LoggingConfiguration'), one };
};

const protectionSchema = z.object({
  DataProtections: z.array(z.object({ Field: z.object({ FieldKeys: z.array(z.string()).optional() }) })),
});

const scopes = ['CLOUDFRONT', 'REGIONAL'] as const;

test.each(scopes)('OPS-2 the firewall for %s allows 2,400 requests per client IP in 60 s', (scope) => {
  const { acl } = build(scope);
  expect(acl.Properties).toMatchObject({ Scope: scope, DefaultAction: { Allow: {} } });
  const [rule] = z.array(z.looseObject({})).parse(acl.Properties.Rules);
  expect(rule).toMatchObject({
    Priority: 0,
    Statement: { RateBasedStatement: { AggregateKeyType: 'IP', EvaluationWindowSec: 60, Limit: 2_400 } },
    Action: { Block: { CustomResponse: { ResponseCode: 429, CustomResponseBodyKey: 'too-many-requests' } } },
  });
});

test('OPS-2 the limit of the firewall is a setting', () => {
  const { acl } = build('CLOUDFRONT', { ...environments.prod, firewallRequestsPerMinute: 6_000 });
  expect(JSON.stringify(acl)).toContain('"Limit":6000');
});

test("OPS-2 requests above the limit get the program's 429 error with Retry-After: 1", async () => {
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

test('OPS-2 AWS rule groups only count, and no rule checks the size of a body', () => {
  const { acl } = build('CLOUDFRONT');
  const [, ...others] = z.array(z.looseObject({ Name: z.string() })).parse(acl.Properties.Rules);
  expect(others.map(({ Name }) => Name)).toEqual([
    'AWSManagedRulesKnownBadInputsRuleSet',
    'AWSManagedRulesAmazonIpReputationList',
  ]);
  for (const rule of others) expect(rule).toMatchObject({ OverrideAction: { Count: {} } });
  expect(JSON.stringify(acl)).not.toMatch(/SizeConstraint|"Sample[^"]*":true|SampledRequestsEnabled":true/);
});

/** Returns every header from which the gateway reads credentials. */
const askedFor = async (): Promise<readonly string[]> => {
  const asked = new Set<string>();
  const headers = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get: (_, name) => {
        asked.add(String(name));
        return undefined;
      },
    },
  );
  for (const { read } of Object.values(credentialForms)) read(headers, {});
  for (const { credential } of Object.values<Route>(routes))
    if (credential !== 'none' && !isKeyCredential(credential))
      expect(() => authenticateCaller({ botToken: '1:a', topUpKey: 'b' }, { credential, headers, nowMs: 0 })).toThrow();
  const patience = { silenceMs: 1, commitsStreams: false, commitsJson: false };
  const door = createEdgeFrontDoor({ current: () => ['a'], refresh: async () => undefined }, patience);
  const event = { headers } as unknown as Parameters<typeof door.admit>[0];
  await expect(door.admit(event)).rejects.toMatchObject({ code: 'direct_access_refused' });
  return [...asked].sort();
};

test.each(scopes)(
  'ERR-5 the firewall for %s logs blocked and counted requests, without keys or prompts',
  async (scope) => {
    const { acl, logging, one } = build(scope);
    const logGroupName = `aws-waf-logs-gateway-prod-${scope === 'CLOUDFRONT' ? 'edge' : 'regional'}`;
    const headers = await askedFor();
    expect(headers).toEqual(expect.arrayContaining(['authorization', 'x-telegram-bot-api-secret-token']));
    expect(z.array(z.unknown()).parse(logging.Properties.RedactedFields)).toHaveLength(headers.length + 2);
    expect(logging.Properties).toMatchObject({
      RedactedFields: expect.arrayContaining([
        { UriPath: {} },
        { QueryString: {} },
        ...headers.map((Name) => ({ SingleHeader: { Name } })),
      ]),
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
        substituted({ FieldType: 'SINGLE_HEADER', FieldKeys: expect.any(Array) }),
        substituted({ FieldType: 'QUERY_STRING' }),
        substituted({ FieldType: 'BODY' }),
      ],
    });
    const [ofHeaders] = protectionSchema.parse(acl.Properties.DataProtectionConfig).DataProtections;
    expect(ofHeaders?.Field.FieldKeys?.toSorted()).toEqual(headers);
    expect(one('AWS::Logs::LogGroup').Properties).toMatchObject({
      LogGroupName: logGroupName,
      RetentionInDays: environments.prod.logRetentionDays,
    });
    expect(JSON.stringify(logging.Properties.LogDestinationConfigs)).toContain(`:log-group:${logGroupName}"`);
  },
);
