import { expect, test } from 'vitest';
import * as z from 'zod';
import { GatewayError } from '../../lambdas/core/errors/gateway-error.ts';
import { matchRoute } from '../../lambdas/http/router.ts';
import {
  functionForUnknownRoutes,
  type HttpFunction,
  type Route,
  type RouteName,
  routes,
} from '../../lambdas/routes.ts';
import { toRestPaths } from '../../lib/constructs/rest-paths.ts';
import { ofType, only as onlyResource, synthesize } from './synthesize.ts';

const { api } = synthesize('prod', 'api-gateway');

/** Returns the properties of the one resource of a type. */
const only = (type: string, stack = api): Readonly<Record<string, unknown>> => onlyResource(stack, type).Properties;

const methodSchema = z.object({
  parameters: z.array(z.object({ name: z.string(), in: z.literal('path'), required: z.literal(true) })).default([]),
  'x-amazon-apigateway-integration': z.strictObject({
    type: z.literal('aws_proxy'),
    httpMethod: z.literal('POST'),
    uri: z.object({ 'Fn::Join': z.tuple([z.literal(''), z.array(z.unknown())]) }),
    responseTransferMode: z.literal('STREAM'),
    timeoutInMillis: z.int(),
  }),
});
const bodySchema = z.object({ Body: z.object({ paths: z.record(z.string(), z.record(z.string(), methodSchema)) }) });
const { paths } = bodySchema.parse(only('AWS::ApiGateway::RestApi')).Body;

type Method = z.output<typeof methodSchema>;

/** ARN of a function, or of the alias of the text function. */
const arnSchema = z.union([
  z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) }).transform((value) => value['Fn::GetAtt'][0]),
  z.object({ Ref: z.string().regex(/^textfunctionAliaslive/) }).transform(({ Ref }) => Ref),
]);

/** Returns the name of the function that a method calls, such as `text`. */
const calledBy = ({ 'x-amazon-apigateway-integration': { uri } }: Method): string => {
  const parts = uri['Fn::Join'][1];
  const text = parts.map((part) => (typeof part === 'string' ? part : '*')).join('');
  expect(text).toBe('arn:*:apigateway:*:lambda:path/2021-11-15/functions/*/response-streaming-invocations');
  const [id] = parts.flatMap((part) => arnSchema.safeParse(part).data ?? []);
  return (id ?? '').replace(/function(Aliaslive)?[0-9A-F]{8}$/, '');
};

/**
 * Finds the methods of a path as API Gateway does. In each position, a fixed segment takes precedence over `{value}`,
 * and `{value}` over `{proxy+}`. Never backtracks, because the API must not depend on backtracking.
 */
const find = (path: string): Readonly<Record<string, Method>> => {
  let template = '';
  for (const segment of path.split('/').slice(1)) {
    const next = ['', ...Object.keys(paths)].find((known) => known === `${template}/${segment}`);
    const variable = `${template}/{value}`;
    if (next === undefined && paths[variable] === undefined) {
      const greedy = paths[`${template}/{proxy+}`];
      if (!greedy) throw new Error(`API Gateway finds nothing for ${path}`);
      return greedy;
    }
    template = next ?? variable;
  }
  const found = paths[template || '/'];
  if (!found) throw new Error(`API Gateway itself responds to ${path}`);
  return found;
};

const functionAt = (method: string, path: string): string => {
  const methods = find(path);
  const own = methods[method.toLowerCase()] ?? methods['x-amazon-apigateway-any-method'];
  if (!own) throw new Error(`API Gateway itself rejects ${method} ${path}`);
  return calledBy(own);
};

const filled = (path: string): string => path.replaceAll(/\{\w+\}/g, 'some-id');
const places = Object.values<Route>(routes).flatMap((route) =>
  [route.path, ...(route.alsoAt ?? [])].flatMap((path) =>
    [route.method, ...(route.method === 'GET' ? ['HEAD'] : [])].map(
      (method) => [method, filled(path), route.function] as const,
    ),
  ),
);

test.each(places)('OPS-1 API Gateway sends %s %s to the function %s', (method, path, owner) => {
  expect(functionAt(method, path)).toBe(owner);
});

/**
 * Returns how a program with these routes handles a method at a path: the route, or the error with the allowed methods.
 */
const outcomeOf = (method: string, path: string, served: (name: RouteName) => boolean): unknown => {
  try {
    return matchRoute(method, path, served).name;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [error.code, error.headers];
  }
};

test.each(places)(
  'GEN-7 every method at the path of %s %s gets the response of a program with all routes',
  (_, path) => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']) {
      const called = functionAt(method, path);
      const outcome = outcomeOf(method, path, (name) => routes[name].function === called);
      expect(outcome, method).toEqual(outcomeOf(method, path, () => true));
    }
  },
);

test.each([
  '/',
  '/v1',
  '/nothing',
  '/v1/nothing',
  '/v1/chat',
  '/v1/chat/completions/more',
  '/v1/models/a/b',
  '/v1/videos/a/content/b/c',
  '/v1/videos/a/thumbnail',
  '/app/assets',
  '/media/a/b',
  '/a/b/c/d/e',
])('GEN-7 unknown path %s goes to the function for unknown routes with every method', (path) => {
  for (const method of ['GET', 'POST', 'OPTIONS']) expect(functionAt(method, path)).toBe(functionForUnknownRoutes);
});

test('no path has two variable names in one position, and every variable is declared', () => {
  for (const [path, methods] of Object.entries(paths)) {
    const variables = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name);
    for (const { parameters } of Object.values(methods)) expect(parameters.map(({ name }) => name)).toEqual(variables);
    if (path.endsWith('/{proxy+}')) expect(paths[path.replace('{proxy+}', '{value}')]).toBeUndefined();
  }
});

test('two functions with the same method on one API Gateway path stop the synthesis', () => {
  const route = { ...routes.generateContent, function: 'text' } satisfies Route;
  const other: HttpFunction = 'images';
  expect(() =>
    toRestPaths({ one: route, two: { ...route, path: '/v1beta/models/{id}:draw', function: other } }),
  ).toThrow('another function has the same method');
});

test('LIM-6 a response is streamed and may take as long as its function', () => {
  const timeouts = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .map((method) => [calledBy(method), method['x-amazon-apigateway-integration'].timeoutInMillis]);
  expect(Object.fromEntries(timeouts)).toEqual({
    ...{ text: 900_000, images: 900_000, audio: 900_000, videos: 120_000, content: 900_000 },
    ...{ catalog: 30_000, account: 30_000, bot: 30_000, app: 30_000 },
  });
});

test('AUTH-9 functions behind API Gateway have no URL, and only this API may call them', () => {
  for (const type of ['Url', 'WebFunction', 'WebFunctionEndpoint'])
    expect(ofType(api, `AWS::Lambda::${type}`)).toEqual([]);
  const permissions = ofType(api, 'AWS::Lambda::Permission')
    .map(({ Properties }) => Properties)
    .filter(({ Principal }) => Principal === 'apigateway.amazonaws.com');
  expect(permissions.map(({ FunctionName }) => arnSchema.parse(FunctionName)).sort()).toEqual(
    ['account', 'app', 'audio', 'bot', 'catalog', 'content', 'images', 'text', 'videos'].map((name) =>
      expect.stringMatching(new RegExp(`^${name}function`)),
    ),
  );
  for (const { Action, SourceArn } of permissions) {
    expect(Action).toBe('lambda:InvokeFunction');
    expect(JSON.stringify(SourceArn)).toMatch(/:execute-api:.*"Ref":"rest\w+"\},"\/gateway\/\*\/\*"/);
  }
  for (const { Properties } of ofType(api, 'AWS::Lambda::Permission')) expect(Properties.Principal).not.toBe('*');
});

test('OPS-1 the API is in its region, requires TLS 1.2 or later and keeps the bytes of forms', () => {
  expect(only('AWS::ApiGateway::RestApi')).toMatchObject({
    EndpointConfiguration: { Types: ['REGIONAL'] },
    SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PQ_2025_09',
    EndpointAccessMode: 'STRICT',
    BinaryMediaTypes: ['multipart/form-data'],
    DisableExecuteApiEndpoint: false,
  });
});

const stageSchema = z.object({
  StageName: z.literal('gateway'),
  TracingEnabled: z.literal(true),
  AccessLogSetting: z.object({ Format: z.string(), DestinationArn: z.unknown() }),
  MethodSettings: z.array(z.unknown()),
});

test('AUTH-3 ERR-5 the access log is one JSON line without query, header, body, requested path', () => {
  const { AccessLogSetting, MethodSettings } = stageSchema.parse(only('AWS::ApiGateway::Stage'));
  // Throttling stays off too: the functions count requests.
  expect(MethodSettings).toEqual([
    { HttpMethod: '*', ResourcePath: '/*', LoggingLevel: 'OFF', DataTraceEnabled: false },
  ]);
  const logged = Object.values(z.record(z.string(), z.string()).parse(JSON.parse(AccessLogSetting.Format)));
  expect(logged).toEqual(
    expect.arrayContaining(['$context.resourcePath', '$context.requestId', '$context.xrayTraceId']),
  );
  expect(logged).not.toContain('$context.path');
  for (const value of logged) expect(value).toMatch(/^\$context\.(?!.*(override|querystring|header|authorizer))/i);
});

test('OPS-2 the firewall protects the stage', () => {
  expect(only('AWS::WAFv2::WebACL')).toMatchObject({ Scope: 'REGIONAL' });
  const { WebACLArn, ResourceArn } = only('AWS::WAFv2::WebACLAssociation');
  expect(JSON.stringify(WebACLArn)).toContain('firewall');
  expect(JSON.stringify(ResourceArn)).toMatch(/restapis.*stages/);
});

test("OPS-1 without a domain, the stage's URL is in an output and in the parameter for functions", () => {
  const { Value } = api.outputs.publicUrl ?? {};
  const text = JSON.stringify(Value);
  expect(text).toMatch(/"https:\/\/".*\.execute-api\.us-east-1\..*"\/gateway"/);
  expect(only('AWS::SSM::Parameter')).toMatchObject({ Name: '/gateway-prod/public-url', Value });
  expect(Object.keys(api.outputs).filter((name) => name.includes('Endpoint'))).toEqual([]);
});

test('with another front door there is no REST API', () => {
  for (const variant of ['cloudfront', 'none'] as const)
    expect(ofType(synthesize('prod', variant).api, 'AWS::ApiGateway::RestApi')).toEqual([]);
});

test('OPS-1 a domain has a certificate and a record, requires TLS 1.2, and is the only URL', () => {
  const named = synthesize('prod', 'api-gateway with a domain').api;
  expect(only('AWS::ApiGateway::RestApi', named)).toMatchObject({ DisableExecuteApiEndpoint: true });
  expect(only('AWS::ApiGateway::DomainName', named)).toMatchObject({
    DomainName: 'api.example.com',
    EndpointConfiguration: { Types: ['REGIONAL'] },
    SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PQ_2025_09',
    EndpointAccessMode: 'STRICT',
  });
  // Paths reach the functions unchanged.
  expect(only('AWS::ApiGateway::BasePathMapping', named).BasePath).toBeUndefined();
  expect(only('AWS::CertificateManager::Certificate', named)).toMatchObject({
    DomainName: 'api.example.com',
    ValidationMethod: 'DNS',
    DomainValidationOptions: [{ HostedZoneId: 'Z0123456789' }],
  });
  expect(only('AWS::Route53::RecordSet', named)).toMatchObject({ Name: 'api.example.com.', Type: 'A' });
  expect(named.outputs.publicUrl?.Value).toBe('https://api.example.com');
});

test('OPS-1 a domain with a certificate gets neither another certificate nor a record', () => {
  const owned = synthesize('prod', 'api-gateway with a certificate').api;
  expect(only('AWS::ApiGateway::DomainName', owned)).toMatchObject({
    RegionalCertificateArn: expect.stringContaining('/0a1b'),
  });
  expect(ofType(owned, 'AWS::CertificateManager::Certificate')).toEqual([]);
  expect(ofType(owned, 'AWS::Route53::RecordSet')).toEqual([]);
});
