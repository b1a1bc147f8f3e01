import { CloudFormationClient, CreateStackCommand, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import type { Stage } from 'aws-cdk-lib';
import { type KnownTemplate, toKnownTemplate } from './to-known-template.ts';

export const emulated = (endpoint: string) => ({
  endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
});

/** Account of moto. */
const ACCOUNT = '123456789012';
/** The smallest zip file, in place of every asset: moto runs no function. */
const emptyZip = Buffer.from(`504b0506${'00'.repeat(18)}`, 'hex');

export interface DeployedStack extends KnownTemplate {
  readonly status: string;
  readonly reason: string | undefined;
  readonly outputs: ReadonlyMap<string, string>;
}

/** Does what `cdk bootstrap` does: a bucket for assets and a parameter with the version. */
const bootstrap = async (url: string, assetKeys: Iterable<string>): Promise<void> => {
  const s3 = new S3Client({ ...emulated(url), forcePathStyle: true });
  const ssm = new SSMClient(emulated(url));
  const Bucket = `cdk-hnb659fds-assets-${ACCOUNT}-us-east-1`;
  await s3.send(new CreateBucketCommand({ Bucket }));
  for (const Key of assetKeys) await s3.send(new PutObjectCommand({ Bucket, Key, Body: emptyZip }));
  await ssm.send(
    new PutParameterCommand({ Name: '/cdk-bootstrap/hnb659fds/version', Value: '30', Type: 'String', Overwrite: true }),
  );
  s3.destroy();
  ssm.destroy();
};

/** Deploys the stacks of a stage in the order of their dependencies. Returns them by name. */
export const deployStacks = async (url: string, stage: Stage): Promise<ReadonlyMap<string, DeployedStack>> => {
  const { stacks } = stage.synth();
  const templates = stacks.map(({ template }) => template as object);
  await bootstrap(url, new Set(JSON.stringify(templates).match(/[0-9a-f]{64}\.zip/g)));
  const client = new CloudFormationClient(emulated(url));
  const deployed = new Map<string, DeployedStack>();
  const outputOf = (stackName: string, outputName: string): string => {
    const value = deployed.get(stackName)?.outputs.get(outputName);
    if (value === undefined) throw new Error(`The stack ${stackName} has no output ${outputName}.`);
    return value;
  };
  for (const { stackName, template } of stacks) {
    const known = toKnownTemplate(template, outputOf);
    await client.send(
      new CreateStackCommand({
        StackName: stackName,
        TemplateBody: JSON.stringify(known.template),
        Capabilities: ['CAPABILITY_NAMED_IAM'],
      }),
    );
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName }));
    deployed.set(stackName, {
      ...known,
      status: stack?.StackStatus ?? 'missing',
      reason: stack?.StackStatusReason,
      outputs: new Map((stack?.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue])),
    });
  }
  client.destroy();
  return deployed;
};
