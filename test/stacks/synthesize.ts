import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as z from 'zod';
import { type Environment, type EnvironmentName, environments, parseEnvironment } from '../../lib/environments.ts';
import { GatewayStage } from '../../lib/gateway-stage.ts';

export const root = join(import.meta.dirname, '../..');

const configSchema = z.object({ context: z.record(z.string(), z.unknown()) });

interface AppOptions {
  /** Without bundling, the asset of a function is the folder of its sources. */
  readonly bundling?: boolean;
  readonly context?: Readonly<Record<string, string>>;
}

/**
 * Creates the app as the CDK command line does, which adds flags and metadata as context. Its output is in the
 * temporary folder of the test run. Most of a synthesis is AWS's template check, which `nag.long.test.ts` runs for
 * every variant.
 */
export const newApp = ({ bundling = false, context = {} }: AppOptions = {}, checksTemplates = false): App => {
  const config = configSchema.parse(JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')));
  return new App({
    outdir: mkdtempSync(join(tmpdir(), 'gateway-synth-')),
    analyticsReporting: false,
    builtinCloudFormationValidation: checksTemplates,
    context: {
      ...config.context,
      'aws:cdk:enable-path-metadata': true,
      'aws:cdk:enable-asset-metadata': true,
      ...(bundling ? {} : { 'aws:cdk:bundling-stacks': [] }),
      ...context,
    },
  });
};

const hostedZone = { id: 'Z0123456789', name: 'example.com' };
const domain = { name: 'api.example.com', hostedZone };
const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b';

const existingNetwork = {
  kind: 'existing',
  vpcId: 'vpc-0a1b2c3d4e5f60718',
  subnetIds: ['subnet-0a1b2c3d4e5f60718', 'subnet-0a1b2c3d4e5f60719'],
  securityGroupIds: ['sg-0a1b2c3d4e5f60718'],
} as const;

/** Changes to an environment of `lib/environments.ts`. Tests share these variants, because each synthesis is slow. */
export const variants = {
  cloudfront: {},
  'cloudfront with a domain': { domain, edgeTimeoutSeconds: 300, largeBodies: 'off', budgetUsdPerMonth: 50 },
  'cloudfront with a certificate': {
    domain: { name: 'api.example.com', certificateArn },
    inferenceHost: 'web-function',
    textShift: 'off',
  },
  'cloudfront of another region': { region: 'eu-central-1' },
  'api-gateway': { frontDoor: 'api-gateway' },
  'api-gateway with a domain': { frontDoor: 'api-gateway', domain },
  'api-gateway with a certificate': {
    frontDoor: 'api-gateway',
    domain: { name: 'api.example.com', certificateArn },
  },
  'with a canary': { canary: true, textShift: 'canary' },
  'api-gateway in a new VPC': { frontDoor: 'api-gateway', network: { kind: 'created', natGateways: 2 } },
  'cloudfront in a VPC of the owner': { inferenceHost: 'web-function', textShift: 'off', network: existingNetwork },
  'with usage events': { usageEvents: { kind: 'created' } },
  'cloudfront with the event bus of the owner': {
    usageEvents: { kind: 'existing', eventBusArn: 'arn:aws:events:us-east-1:210987654321:event-bus/billing' },
  },
  none: { frontDoor: 'none', budgetUsdPerMonth: undefined },
} as const;
export type Variant = keyof typeof variants;

export const OPERATOR = 'operator@example.com';
export const PAGER = 'https://events.pagerduty.com/integration/0123/enqueue';
export const CHANNEL = { kind: 'slack', workspaceId: 'T0123ABCD', channelId: 'C0123ABCD' } as const;
const TEAMS = {
  kind: 'teams',
  tenantId: '3f1c2d4e-0000-4000-8000-000000000001',
  teamId: '3f1c2d4e-0000-4000-8000-000000000002',
  channelId: '19%3Aabc%40thread.tacv2',
} as const;

const alarms = { page: { https: [PAGER], chat: [CHANNEL] }, ticket: { mail: [OPERATOR], chat: [CHANNEL, TEAMS] } };

export const environmentOf = (name: EnvironmentName, variant: Variant = 'cloudfront'): Environment =>
  parseEnvironment({ ...environments[name], alarms, alarmActions: true, ...variants[variant] });

const resourceSchema = z.looseObject({
  Type: z.string(),
  Properties: z.looseObject({}).default({}),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
  Metadata: z
    .object({ 'aws:cdk:path': z.string().default(''), 'aws:asset:path': z.string().default('') })
    .default({ 'aws:cdk:path': '', 'aws:asset:path': '' }),
});
export type Resource = z.output<typeof resourceSchema>;

const templateSchema = z.object({
  Resources: z.record(z.string(), resourceSchema),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })).default({}),
});

export interface Synthesized {
  readonly template: Template;
  readonly resources: ReadonlyMap<string, Resource>;
  readonly outputs: Readonly<Record<string, { readonly Value?: unknown }>>;
}

export const read = (stack: Stack): Synthesized => {
  const template = Template.fromStack(stack);
  const { Resources, Outputs } = templateSchema.parse(template.toJSON());
  return { template, resources: new Map(Object.entries(Resources)), outputs: Outputs };
};

/** Returns the templates of a gateway. */
export const readGateway = (app: App, name: EnvironmentName, environment: Environment) => {
  const gateway = new GatewayStage(app, name, environment);
  const { data, video, api, network, global, edge, accessLogs, operations, edgeOperations } = gateway;
  return {
    app,
    gateway,
    data: read(data),
    video: read(video),
    api: read(api),
    network: network && read(network),
    global: global && read(global),
    edge: edge && read(edge),
    accessLogs: accessLogs && read(accessLogs),
    operations: read(operations),
    edgeOperations: edgeOperations && read(edgeOperations),
    stacks: Object.values(gateway).filter((stack): stack is Stack => stack instanceof Stack),
  };
};

const synthesized = new Map<string, ReturnType<typeof readGateway>>();

/** Returns the templates of a variant of an environment, synthesized once per worker. Do not modify them. */
export const synthesize = (name: EnvironmentName, variant: Variant = 'cloudfront') => {
  const key = `${name} ${variant}`;
  const made = synthesized.get(key) ?? readGateway(newApp(), name, environmentOf(name, variant));
  synthesized.set(key, made);
  return made;
};

/** Returns the templates of `prod` behind CloudFront, with those that exist only there. */
export const synthesizeEdge = (variant: Variant = 'cloudfront') => {
  const { edge, global, accessLogs, ...made } = synthesize('prod', variant);
  if (!edge || !global || !accessLogs) throw new Error(`${variant} has no edge`);
  return { ...made, edge, global, accessLogs };
};

/** Returns the one resource of a type. Throws an Error if there are none or several. */
export const only = (stack: Synthesized, type: string): Resource => {
  const [found, ...others] = ofType(stack, type);
  if (!found || others.length > 0) throw new Error(`${others.length + (found ? 1 : 0)} resources are ${type}`);
  return found;
};

export const ofType = ({ resources }: Synthesized, type: string): readonly Resource[] =>
  [...resources.values()].filter((resource) => resource.Type === type);

/** Returns the name of a resource: `keys-table` for `prod/data/keys-table/Resource`. */
export const nameOf = (resource: Resource | undefined): string =>
  resource?.Metadata['aws:cdk:path'].split('/').slice(2, -1).join('/') ?? '';

const referenceSchema = z.union([
  z.object({ Ref: z.string() }).transform(({ Ref }) => [Ref, ''] as const),
  z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) }).transform((value) => value['Fn::GetAtt']),
]);
const stackOutputSchema = z.object({ 'Fn::GetStackOutput': z.object({ OutputName: z.string() }) });
const joinSchema = z.object({ 'Fn::Join': z.tuple([z.literal(''), z.array(z.unknown())]) });
const subSchema = z.object({ 'Fn::Sub': z.string() });

/**
 * Returns what a reference in a template points to: the path of the resource in its stack, also across stacks. Returns
 * plain text and values that only AWS knows, such as the region, unchanged. The stream of a table differs from the
 * table.
 */
export const pointsAt = (value: unknown, own: Synthesized, others: readonly Synthesized[]): string => {
  if (typeof value === 'string') return value;
  const joined = joinSchema.safeParse(value);
  if (joined.success) return joined.data['Fn::Join'][1].map((part) => pointsAt(part, own, others)).join('');
  const sub = subSchema.safeParse(value);
  if (sub.success) return sub.data['Fn::Sub'].replaceAll(/\$\{([^}]+)\}/g, '$1');
  const output = stackOutputSchema.safeParse(value);
  if (output.success) {
    const { OutputName } = output.data['Fn::GetStackOutput'];
    const other = others.find(({ outputs }) => OutputName in outputs);
    return other ? pointsAt(other.outputs[OutputName]?.Value, other, []) : '';
  }
  const [target, attribute] = referenceSchema.parse(value);
  if (target.startsWith('AWS::')) return target;
  const name = nameOf(own.resources.get(target));
  return attribute === 'StreamArn' ? `${name} stream` : name;
};
