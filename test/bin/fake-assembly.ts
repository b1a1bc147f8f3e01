import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAssembly } from '../../bin/deploy/read-assembly.ts';

export interface FakeStack {
  readonly name: string;
  readonly region: string;
  readonly resources: readonly { readonly Type: string; readonly Properties?: object }[];
}

/** Version of the format, which cdk requires. */
const SCHEMA = '36.0.0';

const roleOf = (name: string, region: string): string =>
  `arn:\${AWS::Partition}:iam::\${AWS::AccountId}:role/cdk-acme-${name}-role-\${AWS::AccountId}-${region}`;

/** Writes a cloud assembly as `cdk synth` does, for a bootstrap with the qualifier `acme`. */
export const writeAssembly = (folder: string, stacks: readonly FakeStack[]): void => {
  mkdirSync(folder, { recursive: true });
  const write = (file: string, content: object): void => writeFileSync(join(folder, file), JSON.stringify(content));
  const version = {
    requiresBootstrapStackVersion: 6,
    bootstrapStackVersionSsmParameter: '/cdk-bootstrap/acme/version',
  };
  const artifacts = stacks.flatMap(({ name, region, resources }) => {
    write(`${name}.template.json`, {
      Resources: Object.fromEntries(resources.map((each, index) => [`R${index}`, each])),
    });
    const destination = {
      bucketName: `cdk-acme-assets-\${AWS::AccountId}-${region}`,
      assumeRoleArn: roleOf('file-publishing', region),
    };
    const files = Object.fromEntries(
      ['a', 'b'].map((file) => {
        const source = { path: `${name}.template.json`, packaging: 'file' };
        return [file, { source, destinations: { here: { ...destination, objectKey: file } } }];
      }),
    );
    write(`${name}.assets.json`, { version: SCHEMA, files });
    const stack = {
      type: 'aws:cloudformation:stack',
      environment: `aws://unknown-account/${region}`,
      displayName: name.replace(/^gateway-(\w+)-/, '$1/'),
      dependencies: [`${name}.assets`],
      properties: {
        ...version,
        stackName: name,
        templateFile: `${name}.template.json`,
        assumeRoleArn: roleOf('deploy', region),
        lookupRole: { arn: roleOf('lookup', region), requiresBootstrapStackVersion: 8 },
      },
    };
    const assets = { type: 'cdk:asset-manifest', properties: { ...version, file: `${name}.assets.json` } };
    return [[name, stack] as const, [`${name}.assets`, assets] as const];
  });
  write('tree.json', {});
  const tree = { type: 'cdk:tree', properties: { file: 'tree.json' } };
  write('manifest.json', { version: SCHEMA, artifacts: { ...Object.fromEntries(artifacts), tree } });
};

/** Reads the stacks of a fake cloud assembly. */
export const assemblyOf = (stacks: readonly FakeStack[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'assembly-'));
  writeAssembly(folder, stacks);
  return readAssembly(folder);
};

/** Returns the ARN of a role of the fake bootstrap. */
export const roleArn = (account: string, name: string, region = 'us-east-1'): string =>
  `arn:aws:iam::${account}:role/cdk-acme-${name}-role-${account}-${region}`;
