import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';

export interface ScriptedAws {
  readonly url: string;
  /** Names of the requested stacks. */
  readonly asked: string[];
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
}

/**
 * Simulates the parts of CloudFormation, Secrets Manager, Systems Manager and a messenger that the command line calls.
 * `dateOffsetMs` shifts its clock.
 */
export const startScriptedAws = async (script: AwsScript, dateOffsetMs = 0): Promise<ScriptedAws> => {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    response.sendDate = false;
    response.setHeader('date', new Date(Date.now() + dateOffsetMs).toUTCString());
    const body = await readBody(request);
    if (request.url?.endsWith('/getWebhookInfo')) {
      response.end(JSON.stringify({ ok: true, result: script.webhook }));
    } else if (request.headers['x-amz-target'] !== undefined) {
      const { status, answer } = look(script, String(request.headers['x-amz-target']), body);
      response.writeHead(status).end(JSON.stringify(answer));
    } else {
      const name = new URLSearchParams(body).get('StackName') ?? '';
      asked.push(name);
      const outputs = script.stacks[name];
      response
        .writeHead(outputs ? 200 : 400, { 'content-type': 'text/xml' })
        .end(outputs ? toStack(name, outputs) : missing);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the system named no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

const look = ({ secrets, parameters = {} }: AwsScript, target: string, body: string) => {
  const { SecretId, Name } = JSON.parse(body);
  const [value, answer, missing] =
    target === 'AmazonSSM.GetParameter'
      ? [parameters[Name], { Parameter: { Value: parameters[Name] } }, 'ParameterNotFound']
      : [secrets[SecretId], { SecretString: secrets[SecretId] }, 'ResourceNotFoundException'];
  return value === undefined ? { status: 400, answer: { __type: missing } } : { status: 200, answer };
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

const missing =
  '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>does not exist</Message></Error></ErrorResponse>';

const toStack = (name: string, outputs: Readonly<Record<string, string>>): string => {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return (
    '<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member>' +
    `<StackName>${name}</StackName><CreationTime>2026-11-01T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus>` +
    `<Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`
  );
};
