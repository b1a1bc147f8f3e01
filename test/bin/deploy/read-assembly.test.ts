import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readAssembly } from '../../../bin/deploy/read-assembly.ts';
import { assemblyOf, writeAssembly } from '../fake-assembly.ts';

test('OPS-12 an assembly names the roles, the buckets and the bootstrap of each stack', () => {
  const resources = [{ Type: 'AWS::S3::Bucket', Properties: { BucketName: 'x' } }];
  const role = (name: string) =>
    `arn:\${AWS::Partition}:iam::\${AWS::AccountId}:role/cdk-acme-${name}-role-\${AWS::AccountId}-us-east-1`;
  expect(assemblyOf([{ name: 'gateway-dev-data', region: 'us-east-1', resources }])).toEqual([
    {
      name: 'gateway-dev-data',
      region: 'us-east-1',
      resources: [{ type: 'AWS::S3::Bucket', properties: { BucketName: 'x' } }],
      deployRole: role('deploy'),
      lookupRole: role('lookup'),
      assetBuckets: [{ bucket: `cdk-acme-assets-\${AWS::AccountId}-us-east-1`, role: role('file-publishing') }],
      // The lookup role needs a later version than the deployment.
      bootstrap: { parameter: '/cdk-bootstrap/acme/version', versionMin: 8 },
    },
  ]);
});

test('OPS-12 an assembly includes the stacks of its nested assemblies', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assembly-'));
  writeAssembly(join(folder, 'assembly-dev'), [{ name: 'gateway-dev-data', region: 'us-east-1', resources: [] }]);
  const stage = { type: 'cdk:cloud-assembly', properties: { directoryName: 'assembly-dev' } };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ artifacts: { stage } }));
  expect(readAssembly(folder).map(({ name }) => name)).toEqual(['gateway-dev-data']);
});
