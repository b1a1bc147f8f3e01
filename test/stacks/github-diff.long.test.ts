import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GatewayStage } from '../../lib/gateway-stage.ts';
import { environmentOf, newApp, root } from './synthesize.ts';

const ACCOUNT = '123456789012';

/** Calls by action, with the stack that they name. */
const calls: string[] = [];

const resultOf = (action: string, content: string): string =>
  `<${action}Response><${action}Result>${content}</${action}Result></${action}Response>`;

const errorOf = (code: string, message: string): string =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;

/** The stack `data` exists, with an empty template. No role may be assumed. */
const toReply = (action: string, stack: string): readonly [status: number, body: string] => {
  if (action === 'GetCallerIdentity')
    return [200, resultOf(action, `<Account>${ACCOUNT}</Account><Arn>arn:aws:iam::${ACCOUNT}:role/diff</Arn>`)];
  if (action === 'AssumeRole') return [403, errorOf('AccessDenied', 'not allowed')];
  if (!stack.endsWith('-data')) return [400, errorOf('ValidationError', `Stack with id ${stack} does not exist`)];
  if (action === 'DescribeStacks')
    return [
      200,
      resultOf(
        action,
        `<Stacks><member><StackName>${stack}</StackName><CreationTime>2026-11-01T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus></member></Stacks>`,
      ),
    ];
  if (action === 'GetTemplate') return [200, resultOf(action, '<TemplateBody>{"Resources":{}}</TemplateBody>')];
  return [403, errorOf('AccessDenied', 'not allowed')];
};

const server = createServer(async (request, response) => {
  const fields = new URLSearchParams(await text(request));
  const [action, stack] = [fields.get('Action') ?? `${request.headers['x-amz-target']}`, fields.get('StackName') ?? ''];
  calls.push(`${action} ${stack}`.trim());
  const [status, body] = toReply(action, stack);
  response.writeHead(status, { 'content-type': 'text/xml' }).end(body);
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const runCdk = async (args: readonly string[]) => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const home = mkdtempSync(join(tmpdir(), 'gateway-diff-'));
  const child = spawn(process.execPath, [join(root, 'node_modules/aws-cdk/bin/cdk'), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      NO_COLOR: '1',
      HOME: home,
      CDK_HOME: home,
      TMPDIR: home,
      AWS_ENDPOINT_URL: `http://127.0.0.1:${address.port}`,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_REGION: 'us-east-1',
      AWS_EC2_METADATA_DISABLED: 'true',
    },
  });
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, output: `${output}${errors}` };
};

test('OPS-14 a diff of dev works with the rights of the role of pull requests', async () => {
  const app = newApp();
  const stacks = new GatewayStage(app, 'dev', environmentOf('dev')).node.children;
  const { directory } = app.synth();
  const { code, output } = await runCdk(['diff', 'dev/*', '--app', directory, '--method=template']);
  expect(code, output).toBe(0);
  const added = [...output.matchAll(/\[\+\] AWS::S3::Bucket (\S+)/g)].map(([, name]) => name);
  expect(added).toContain('data/media');
  const actions = new Set(calls.map((call) => call.split(' ')[0]));
  // The first two need no rights of the role: AWS allows the first to every caller, and rejects the second here.
  expect([...actions].toSorted()).toEqual(['AssumeRole', 'DescribeStacks', 'GetCallerIdentity', 'GetTemplate']);
  const named = calls.flatMap((call) => (/^(?:DescribeStacks|GetTemplate) (.*)$/.exec(call) ?? []).slice(1));
  for (const stack of named) expect(stack).toMatch(/^gateway-dev-/);
  expect(new Set(named).size).toBe(stacks.length);
});
