import { forEachConcurrent } from '../../lambdas/core/concurrency.ts';
import { callTimeouts } from '../caller.ts';

/** Temporary credentials of an assumed role. */
export interface RoleCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

/** Region and credentials of a call. Without credentials, the SDK uses those of the shell. */
export interface CallOptions {
  readonly region: string;
  readonly credentials?: RoleCredentials | undefined;
}

const toConfig = ({ region, credentials }: CallOptions) => ({
  region,
  requestHandler: callTimeouts,
  ...(credentials === undefined ? {} : { credentials }),
});

/** Name of an error of the SDK, such as `AccessDenied`. */
export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

export const isDenied = (error: unknown): boolean => /^(AccessDenied|Unauthorized)/.test(nameOf(error));

/** Assumes a role with the credentials of the shell. Throws the error of STS. */
export const assumeRole = async (RoleArn: string, region: string): Promise<RoleCredentials> => {
  const { AssumeRoleCommand, STSClient } = await import('@aws-sdk/client-sts');
  const client = new STSClient(toConfig({ region }));
  try {
    const { Credentials } = await client.send(
      new AssumeRoleCommand({ RoleArn, RoleSessionName: 'gateway-preflight', DurationSeconds: 900 }),
    );
    const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '' } = Credentials ?? {};
    return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
  } finally {
    client.destroy();
  }
};

/** Returns the value of a parameter, or undefined if it does not exist. */
export const readParameter = async (Name: string, options: CallOptions): Promise<string | undefined> => {
  const { GetParameterCommand, SSMClient } = await import('@aws-sdk/client-ssm');
  const client = new SSMClient(toConfig(options));
  try {
    return (await client.send(new GetParameterCommand({ Name }))).Parameter?.Value;
  } catch (error) {
    if (nameOf(error) === 'ParameterNotFound') return undefined;
    throw error;
  } finally {
    client.destroy();
  }
};

/** Returns the deployed template of a stack, or undefined if the stack does not exist. */
export const readTemplate = async (StackName: string, options: CallOptions): Promise<string | undefined> => {
  const { CloudFormationClient, GetTemplateCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient(toConfig(options));
  try {
    return (await client.send(new GetTemplateCommand({ StackName, TemplateStage: 'Original' }))).TemplateBody;
  } catch (error) {
    if (nameOf(error) === 'ValidationError') return undefined;
    throw error;
  } finally {
    client.destroy();
  }
};

/** Returns those of the resource types that CloudFormation does not have in the region. */
export const missingTypes = async (types: readonly string[], options: CallOptions): Promise<readonly string[]> => {
  const { CloudFormationClient, DescribeTypeCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({ ...toConfig(options), maxAttempts: 6 });
  try {
    const missing: string[] = [];
    await forEachConcurrent(types, async (TypeName) => {
      try {
        await client.send(new DescribeTypeCommand({ Type: 'RESOURCE', TypeName }));
      } catch (error) {
        if (nameOf(error) !== 'TypeNotFoundException') throw error;
        missing.push(TypeName);
      }
    });
    return missing.toSorted();
  } finally {
    client.destroy();
  }
};

/** Returns the customer-managed key that encrypts a bucket by default, or undefined if it has none. */
export const readBucketKey = async (Bucket: string, options: CallOptions): Promise<string | undefined> => {
  const { GetBucketEncryptionCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({ ...toConfig(options), forcePathStyle: true });
  try {
    const reply = await client.send(new GetBucketEncryptionCommand({ Bucket }));
    const [rule] = reply.ServerSideEncryptionConfiguration?.Rules ?? [];
    const key = rule?.ApplyServerSideEncryptionByDefault?.KMSMasterKeyID;
    return key?.endsWith('alias/aws/s3') ? undefined : key;
  } finally {
    client.destroy();
  }
};

export interface Quota {
  /** Service and quota, as Service Quotas names them. */
  readonly service: string;
  readonly code: string;
}

/** Returns the value of a quota in the account: the applied one, or AWS's default. */
export const readQuota = async ({ service, code }: Quota, options: CallOptions): Promise<number> => {
  const { GetAWSDefaultServiceQuotaCommand, GetServiceQuotaCommand, ServiceQuotasClient } = await import(
    '@aws-sdk/client-service-quotas'
  );
  const client = new ServiceQuotasClient(toConfig(options));
  const asked = { ServiceCode: service, QuotaCode: code };
  try {
    const { Quota: quota } = await client.send(new GetServiceQuotaCommand(asked));
    return quota?.Value ?? 0;
  } catch (error) {
    if (nameOf(error) !== 'NoSuchResourceException') throw error;
    const { Quota: quota } = await client.send(new GetAWSDefaultServiceQuotaCommand(asked));
    return quota?.Value ?? 0;
  } finally {
    client.destroy();
  }
};
