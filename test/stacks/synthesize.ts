import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { afterAll } from 'vitest';
import * as z from 'zod';
import { type Environment, type EnvironmentName, environments } from '../../lib/environments.ts';
import { addGateway } from '../../lib/gateway.ts';

export const root = join(import.meta.dirname, '../..');

const configSchema = z.object({ context: z.record(z.string(), z.unknown()) });

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The app as the command line starts it: flags and metadata are context that it hands over. */
export const newApp = ({ bundling }: { readonly bundling: boolean }): App => {
  const outdir = mkdtempSync(join(tmpdir(), 'gateway-synth-'));
  folders.push(outdir);
  const { context } = configSchema.parse(JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')));
  return new App({
    outdir,
    analyticsReporting: false,
    context: {
      ...context,
      'aws:cdk:enable-path-metadata': true,
      'aws:cdk:enable-asset-metadata': true,
      ...(bundling ? {} : { 'aws:cdk:bundling-stacks': [] }),
    },
  });
};

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

/** The templates of one environment, or of what is made of it. Without bundling, a function's asset is the folder of its sources. */
export const synthesize = (
  name: EnvironmentName,
  app: App = newApp({ bundling: false }),
  environment: Environment = environments[name],
) => {
  const gateway = addGateway(app, name, environment);
  const { data, video, api, global, edge, operations, edgeOperations } = gateway;
  return {
    data: read(data),
    video: read(video),
    api: read(api),
    global: global && read(global),
    edge: edge && read(edge),
    operations: read(operations),
    edgeOperations: edgeOperations && read(edgeOperations),
    dataStack: data,
    videoStack: video,
    apiStack: api,
    /** All that there are. */
    stacks: Object.values(gateway).filter((stack): stack is Stack => stack instanceof Stack),
  };
};

export const ofType = ({ resources }: Synthesized, type: string): readonly Resource[] =>
  [...resources.values()].filter((resource) => resource.Type === type);

/** `prod/data/keys-table/Resource` is `keys-table`. */
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
 * What an attribute of a template points at, by the resource's path in its stack, in the stacks it may refer to as well. Plain text
 * is itself, and so is what AWS alone knows, such as the region. A table's stream is not the table.
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
