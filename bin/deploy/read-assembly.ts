import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

export interface AssemblyResource {
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Bucket of the CDK bootstrap, and the role that uploads to it. Names may contain placeholders such as the account. */
export interface AssetBucket {
  readonly bucket: string;
  readonly role: string | undefined;
}

/** Stack of a cloud assembly. Roles may contain placeholders; they are undefined if the caller's own rights are used. */
export interface AssemblyStack {
  readonly name: string;
  readonly region: string;
  readonly resources: readonly AssemblyResource[];
  readonly deployRole: string | undefined;
  /** Role that may read resources. */
  readonly lookupRole: string | undefined;
  readonly assetBuckets: readonly AssetBucket[];
  /** Version of the CDK bootstrap that the stack needs. Undefined if it needs none. */
  readonly bootstrap: { readonly parameter: string; readonly versionMin: number } | undefined;
}

const manifestSchema = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      environment: z.string().default(''),
      dependencies: z.array(z.string()).default([]),
      properties: z
        .object({
          stackName: z.string().default(''),
          templateFile: z.string().default(''),
          file: z.string().default(''),
          directoryName: z.string().default(''),
          assumeRoleArn: z.string().optional(),
          lookupRole: z.object({ arn: z.string(), requiresBootstrapStackVersion: z.int().default(0) }).optional(),
          requiresBootstrapStackVersion: z.int().default(0),
          bootstrapStackVersionSsmParameter: z.string().optional(),
        })
        .prefault({}),
    }),
  ),
});
type Artifact = z.output<typeof manifestSchema>['artifacts'][string];

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) }),
  ),
});
const assetsSchema = z.object({
  files: z
    .record(
      z.string(),
      z.object({
        destinations: z.record(z.string(), z.object({ bucketName: z.string(), assumeRoleArn: z.string().optional() })),
      }),
    )
    .default({}),
});

/** Reads the stacks of a cloud assembly folder, which `cdk synth` wrote, and of its nested ones: one per environment. */
export const readAssembly = (folder: string): readonly AssemblyStack[] => {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const { artifacts } = manifestSchema.parse(read('manifest.json'));
  const bucketsOf = ({ dependencies }: Artifact): readonly AssetBucket[] => {
    const files = dependencies.flatMap((id) => {
      const artifact = artifacts[id];
      if (artifact?.type !== 'cdk:asset-manifest') return [];
      return Object.values(assetsSchema.parse(read(artifact.properties.file)).files);
    });
    const all = files.flatMap(({ destinations }) => Object.values(destinations));
    const each = new Map(
      all.map((destination) => [`${destination.bucketName} ${destination.assumeRoleArn}`, destination]),
    );
    return [...each.values()].map(({ bucketName, assumeRoleArn }) => ({ bucket: bucketName, role: assumeRoleArn }));
  };
  const own = Object.values(artifacts)
    .filter(({ type }) => type === 'aws:cloudformation:stack')
    .map((artifact) => {
      const { properties, environment } = artifact;
      const { Resources } = templateSchema.parse(read(properties.templateFile));
      return {
        name: properties.stackName,
        region: environment.split('/').at(-1) ?? '',
        resources: Object.values(Resources).map(({ Type, Properties }) => ({ type: Type, properties: Properties })),
        deployRole: properties.assumeRoleArn,
        lookupRole: properties.lookupRole?.arn,
        assetBuckets: bucketsOf(artifact),
        bootstrap: bootstrapOf(properties),
      };
    });
  const nested = Object.values(artifacts)
    .filter(({ type }) => type === 'cdk:cloud-assembly')
    .flatMap(({ properties }) => readAssembly(join(folder, properties.directoryName)));
  return [...own, ...nested];
};

const bootstrapOf = (properties: Artifact['properties']): AssemblyStack['bootstrap'] => {
  const { bootstrapStackVersionSsmParameter: parameter, requiresBootstrapStackVersion, lookupRole } = properties;
  const versionMin = Math.max(requiresBootstrapStackVersion, lookupRole?.requiresBootstrapStackVersion ?? 0);
  return parameter === undefined ? undefined : { parameter, versionMin };
};
