import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';

export interface ScriptedAws {
  readonly url: string;
  /** Names of the requested stacks. */
  readonly asked: string[];
  /** All other calls: the action and its subject. */
  readonly calls: string[];
  /** Access key that signed each call. */
  readonly signers: string[];
  stop(): Promise<void>;
}

export interface AwsScript {
  /** Outputs by stack. */
  readonly stacks: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Parameters of Systems Manager. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Webhook information that the messenger returns. */
  readonly webhook?: object;
  /** Number of the AWS account that the credentials belong to. */
  readonly account?: string;
  /** Numbers of other AWS accounts by access key. They may not assume roles of `account`. */
  readonly otherAccounts?: Readonly<Record<string, string>>;
  /** Roles that nothing may assume, by a part of their ARN. Every other role may be assumed. */
  readonly deniedRoles?: readonly string[];
  /** Whether the credentials may do nothing but assume roles. */
  readonly assumesOnly?: boolean;
  /** Calls that every role is denied, such as `DescribeType`. */
  readonly deniedCalls?: readonly string[];
  /** Resource types that CloudFormation does not have. */
  readonly missingTypes?: readonly string[];
  /** Values of Service Quotas by code. Others do not exist. */
  readonly quotas?: Readonly<Record<string, number>>;
  /** Names of the alarms in the deployed template of a stack, by stack. */
  readonly alarms?: Readonly<Record<string, readonly string[]>>;
  /** Key that encrypts every bucket. */
  readonly bucketKey?: string;
}

interface Reply {
  readonly status: number;
  readonly body: string;
}

/** Prefix of the access keys of assumed roles. */
const ROLE_KEY = 'ASIA';

/**
 * Simulates the parts of CloudFormation, STS, S3, Secrets Manager, Systems Manager, Service Quotas and a messenger that
 * the command line calls. `dateOffsetMs` shifts its clock.
 */
export const startScriptedAws = async (script: AwsScript, dateOffsetMs = 0): Promise<ScriptedAws> => {
  const asked: string[] = [];
  const calls: string[] = [];
  const signers: string[] = [];
  const server = createServer(async (request, response) => {
    response.sendDate = false;
    response.setHeader('date', new Date(Date.now() + dateOffsetMs).toUTCString());
    const body = await readBody(request);
    const send = ({ status, body: text }: Reply): void => {
      response.writeHead(status, { 'content-type': 'text/xml' }).end(text);
    };
    const signer = /Credential=(\w+)/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    signers.push(signer);
    const isRole = signer.startsWith(ROLE_KEY);
    if (request.url?.endsWith('/getWebhookInfo')) {
      response.end(JSON.stringify({ ok: true, result: script.webhook }));
    } else if (request.headers['x-amz-target'] !== undefined) {
      send(byTarget(script, { target: String(request.headers['x-amz-target']), body, isRole, calls }));
    } else if (request.url?.includes('?encryption')) {
      calls.push(`GetBucketEncryption ${request.url.split(/[/?]/)[1]}`);
      send(toEncryption(script));
    } else {
      send(byAction(script, { fields: new URLSearchParams(body), signer, asked, calls }));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the system named no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    calls,
    signers,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

interface TargetCall {
  readonly target: string;
  readonly body: string;
  readonly isRole: boolean;
  readonly calls: string[];
}

const denied: Reply = {
  status: 400,
  body: JSON.stringify({ __type: 'AccessDeniedException', message: 'not allowed' }),
};
const found = (answer: object): Reply => ({ status: 200, body: JSON.stringify(answer) });

const byTarget = (script: AwsScript, { target, body, isRole, calls }: TargetCall): Reply => {
  const asked: Asked = JSON.parse(body);
  const action = target.split('.').at(-1) ?? '';
  const subject = asked.Name ?? asked.QuotaCode ?? '';
  if (action !== 'GetSecretValue') calls.push(`${action} ${subject}${isRole ? '' : ' by the caller'}`);
  if ((script.assumesOnly && !isRole) || script.deniedCalls?.includes(action)) return denied;
  return toAnswer(script, action, subject || (asked.SecretId ?? ''));
};

const toAnswer = ({ parameters, quotas, secrets }: AwsScript, action: string, subject: string): Reply => {
  if (action === 'GetAWSDefaultServiceQuota') return found({ Quota: { Value: 120 } });
  if (action === 'GetServiceQuota')
    return orAbsent(quotas?.[subject], 'NoSuchResourceException', (Value) => ({ Quota: { Value } }));
  if (action === 'GetParameter')
    return orAbsent(parameters?.[subject], 'ParameterNotFound', (Value) => ({ Parameter: { Value } }));
  return orAbsent(secrets[subject], 'ResourceNotFoundException', (SecretString) => ({ SecretString }));
};

const orAbsent = <T>(value: T | undefined, type: string, toObject: (value: T) => object): Reply =>
  value === undefined ? { status: 400, body: JSON.stringify({ __type: type }) } : found(toObject(value));

interface Asked {
  readonly SecretId?: string;
  readonly Name?: string;
  readonly QuotaCode?: string;
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

interface ActionCall {
  readonly fields: URLSearchParams;
  readonly signer: string;
  readonly asked: string[];
  readonly calls: string[];
}

const byAction = (script: AwsScript, { fields, signer, asked, calls }: ActionCall): Reply => {
  const { account = '123456789012', deniedCalls = [], missingTypes = [], stacks } = script;
  const action = fields.get('Action') ?? '';
  const subject = fields.get('RoleArn') ?? fields.get('TypeName') ?? '';
  if (action !== 'DescribeStacks') calls.push(`${action} ${subject}`.trim());
  if (deniedCalls.includes(action)) return toError('AccessDenied', 'not allowed');
  if (action === 'GetCallerIdentity') {
    const owner = script.otherAccounts?.[signer] ?? account;
    return toResult(action, `<Account>${owner}</Account><Arn>arn:aws:iam::${owner}:user/operator</Arn>`);
  }
  if (action === 'AssumeRole') return toRole(script, signer, subject);
  if (action === 'DescribeType')
    return missingTypes.includes(subject)
      ? toError('TypeNotFoundException', 'unknown type')
      : toResult(action, `<TypeName>${subject}</TypeName>`);
  const name = fields.get('StackName') ?? '';
  if (action === 'GetTemplate') return toTemplate(script.alarms?.[name]);
  asked.push(name);
  const outputs = stacks[name];
  return outputs ? toStack(name, outputs) : toError('ValidationError', 'does not exist');
};

const toTemplate = (alarms: readonly string[] | undefined): Reply => {
  if (!alarms) return toError('ValidationError', 'does not exist');
  const resources = alarms.map((AlarmName, index) => [`A${index}`, { Properties: { AlarmName } }]);
  const template = JSON.stringify({ Resources: { ...Object.fromEntries(resources), Topic: {} } });
  return toResult('GetTemplate', `<TemplateBody>${template}</TemplateBody>`);
};

const toRole = ({ otherAccounts, deniedRoles = [] }: AwsScript, signer: string, role: string): Reply => {
  const other = otherAccounts?.[signer];
  const isOwn = other === undefined || role.includes(`::${other}:`);
  return isOwn && !deniedRoles.some((part) => role.includes(part)) ? assumed : toError('AccessDenied', 'not allowed');
};

const toError = (code: string, message: string): Reply => ({
  status: code === 'AccessDenied' ? 403 : 400,
  body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
});

const toResult = (action: string, content: string): Reply => ({
  status: 200,
  body: `<${action}Response><${action}Result>${content}</${action}Result></${action}Response>`,
});

const assumed = toResult(
  'AssumeRole',
  `<Credentials><AccessKeyId>${ROLE_KEY}ROLE</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>token</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>`,
);

const toEncryption = ({ bucketKey }: AwsScript): Reply => {
  const kind = bucketKey === undefined ? 'AES256' : 'aws:kms';
  const key = bucketKey === undefined ? '' : `<KMSMasterKeyID>${bucketKey}</KMSMasterKeyID>`;
  const rule = `<ApplyServerSideEncryptionByDefault><SSEAlgorithm>${kind}</SSEAlgorithm>${key}</ApplyServerSideEncryptionByDefault>`;
  return {
    status: 200,
    body: `<ServerSideEncryptionConfiguration><Rule>${rule}</Rule></ServerSideEncryptionConfiguration>`,
  };
};

const toStack = (name: string, outputs: Readonly<Record<string, string>>): Reply => {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return toResult(
    'DescribeStacks',
    `<Stacks><member><StackName>${name}</StackName><CreationTime>2026-11-01T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus><Outputs>${members.join('')}</Outputs></member></Stacks>`,
  );
};
