import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { createStepFunctionsAccess } from '../../../../lambdas/functions/wiring/step-functions-client.ts';
import { createVideoWorkflow } from '../../../../lambdas/stores/step-functions/video-machine.ts';

const ARN = 'arn:aws:states:us-east-1:123456789012:stateMachine:videos';
const VIDEO = 'video_00000000000000000000000000';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

type Answer = (response: ServerResponse) => void;

const refuse =
  (type: string, status = 400): Answer =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'application/x-amz-json-1.0' })
      .end(JSON.stringify({ __type: `com.amazonaws.swf.service.v2.model#${type}`, message: 'm' }));
const started: Answer = (response) =>
  response
    .writeHead(200, { 'content-type': 'application/x-amz-json-1.0' })
    .end(JSON.stringify({ executionArn: 'arn', startDate: 1 }));

/** Simulated Step Functions service that sends these responses in turn, and repeats the last one. */
const machineAgainst = (...answers: readonly Answer[]) => machineWithin(60_000, ...answers);

const machineWithin = async (timeoutMs: number, ...answers: readonly Answer[]) => {
  const asked: { target: IncomingMessage['headers'][string]; body: unknown }[] = [];
  const server = createServer(async (request, response) => {
    const answer = answers[asked.length] ?? answers.at(-1);
    // Without a Date header the client cannot conclude that the clock of a test is wrong and repeat the call.
    response.sendDate = false;
    asked.push({ target: request.headers['x-amz-target'], body: await json(request) });
    answer?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const access = createStepFunctionsAccess({ endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1' }, timeoutMs);
  cleanups.push(async () => {
    (await access()).destroy();
    server.closeAllConnections();
    server.close();
  });
  return { machine: createVideoWorkflow(access, ARN), asked };
};

test('VID-5 an execution has the name of its video, and only the id as input', async () => {
  const { machine, asked } = await machineAgainst(started);
  expect(await machine.start(VIDEO)).toBe('running');
  expect(await machine.start(VIDEO)).toBe('running');
  const body = { stateMachineArn: ARN, name: VIDEO, input: `{"videoId":"${VIDEO}"}` };
  expect(asked).toEqual([
    { target: 'AWSStepFunctions.StartExecution', body },
    { target: 'AWSStepFunctions.StartExecution', body },
  ]);
});

test('VID-5 a name in use belongs to an execution that has ended', async () => {
  const { machine, asked } = await machineAgainst(refuse('ExecutionAlreadyExists'));
  expect(await machine.start(VIDEO)).toBe('ended');
  expect(asked).toHaveLength(1);
});

test.each([
  ['throttled', 'ExecutionLimitExceeded', 400, 1],
  ['throttled', 'ThrottlingException', 400, 2],
  ['unavailable', 'StateMachineDoesNotExist', 400, 1],
  ['unavailable', 'AccessDeniedException', 400, 1],
  ['unavailable', 'InternalServerError', 500, 2],
] as const)('VID-5 %s: %s is not a definite result', async (kind, type, status, times) => {
  const { machine, asked } = await machineAgainst(refuse(type, status));
  await expect(machine.start(VIDEO)).rejects.toMatchObject({ name: 'StoreError', kind, message: type });
  expect(asked).toHaveLength(times);
});

test.each(['InvalidName', 'InvalidArn', 'InvalidExecutionInput', 'ValidationException'])(
  'ERR-5 %s is a programming error, not an outage',
  async (type) => {
    const { machine } = await machineAgainst(refuse(type));
    await expect(machine.start(VIDEO)).rejects.toMatchObject({ name: type });
  },
);

test('VID-5 a second start repairs a lost reply', async () => {
  const { machine, asked } = await machineAgainst((response) => response.destroy(), started);
  expect(await machine.start(VIDEO)).toBe('running');
  expect(asked).toHaveLength(2);
});

test('VID-5 a start fails after two attempts without a response', async () => {
  const { machine } = await machineWithin(50, () => undefined);
  const cause = { name: 'TimeoutError', $metadata: { attempts: 2 } };
  await expect(machine.start(VIDEO)).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable', cause });
});
