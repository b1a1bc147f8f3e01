import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import * as z from 'zod';
import { createExecutions, type Execution, type Executions, type ExecutionsOptions } from './executions.ts';

const host = '127.0.0.1';

export const localMachineArn = 'arn:aws:states:us-east-1:000000000000:stateMachine:videos';

export type StepFunctionsOptions = Omit<ExecutionsOptions, 'machineArn'>;

export type StepFunctionsStandIn = {
  readonly endpoint: string;
  readonly machineArn: string;
  /** Ends all executions without a callback. Steps in progress have one more second to finish. */
  stop(): Promise<void>;
};

/**
 * Starts a Step Functions emulator in this process with one state machine. Executions end with the process and have to
 * be started again. The emulator works with the AWS SDK and returns errors in the format of AWS.
 */
export async function startStepFunctions(options: StepFunctionsOptions): Promise<StepFunctionsStandIn> {
  const executions = createExecutions({ ...options, machineArn: localMachineArn });
  const server = createServer((request, response) => {
    serve(executions, request, response).catch((error: unknown) => {
      options.onFailure(`the state machine failed: ${error}`);
      answer(response, 500, { __type: 'InternalFailure', message: 'The local state machine failed.' });
    });
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, () => {
      const address = server.address();
      if (address !== null && typeof address === 'object') resolve(address.port);
      else reject(new Error('The system named no port.'));
    });
  });
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    await executions.stop();
    server.closeAllConnections();
    await closed;
  };
  return {
    endpoint: `http://${host}:${port}`,
    machineArn: localMachineArn,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Error that is sent as a response with status 400 in the format of AWS. */
class Refusal extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

async function serve(executions: Executions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, name = ''] = String(request.headers['x-amz-target'] ?? '').split('.');
  try {
    const operation = operations.get(name);
    if (!operation) throw new Refusal('UnknownOperationException', `${name} is not known here.`);
    answer(response, 200, operation(executions, await readJson(request)));
  } catch (error) {
    if (error instanceof z.ZodError) answer(response, 400, { __type: 'ValidationException', message: error.message });
    else if (error instanceof Refusal) answer(response, 400, { __type: error.name, message: error.message });
    else throw error;
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString());
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
}

type Operation = (executions: Executions, input: unknown) => object;

const startInput = z.object({
  stateMachineArn: z.string(),
  name: z.string().default(() => crypto.randomUUID()),
  input: z.string().default('{}'),
});
const executionInput = z.object({ executionArn: z.string() });
const listInput = z.object({
  stateMachineArn: z.string(),
  statusFilter: z.string().optional(),
  maxResults: z.int().default(100),
});

/**
 * https://docs.aws.amazon.com/step-functions/latest/apireference/API_Operations.html, limited to the operations of
 * videos.
 */
const operations: ReadonlyMap<string, Operation> = new Map(
  Object.entries<Operation>({
    StartExecution(executions, given) {
      const { stateMachineArn, name, input } = startInput.parse(given);
      checkMachine(stateMachineArn);
      checkName(name);
      checkJson(input);
      const found = executions.find(name);
      if (found && (found.status !== 'RUNNING' || found.input !== input))
        throw new Refusal('ExecutionAlreadyExists', `Execution Already Exists: '${found.arn}'`);
      const { arn, startedAtMs } = found ?? executions.start(name, input);
      return { executionArn: arn, startDate: startedAtMs / 1_000 };
    },
    DescribeExecution(executions, given) {
      const { output, error, cause, input, ...summary } = known(executions, executionInput.parse(given).executionArn);
      return { ...toSummary(summary), input, output, error, cause };
    },
    StopExecution(executions, given) {
      const { name } = known(executions, executionInput.parse(given).executionArn);
      return { stopDate: (executions.abort(name)?.endedAtMs ?? 0) / 1_000 };
    },
    /** Returns the newest executions. There is no second page. */
    ListExecutions(executions, given) {
      const { stateMachineArn, statusFilter, maxResults } = listInput.parse(given);
      checkMachine(stateMachineArn);
      const found = executions.list().filter(({ status }) => statusFilter === undefined || status === statusFilter);
      return { executions: found.toReversed().slice(0, maxResults).map(toSummary) };
    },
  }),
);

const toSummary = ({ arn, name, status, startedAtMs, endedAtMs }: Omit<Execution, 'input'>) => ({
  executionArn: arn,
  stateMachineArn: localMachineArn,
  name,
  status,
  startDate: startedAtMs / 1_000,
  ...(endedAtMs === undefined ? {} : { stopDate: endedAtMs / 1_000 }),
});

function known(executions: Executions, arn: string): Execution {
  const found = executions.find(arn.slice(arn.lastIndexOf(':') + 1));
  if (found?.arn !== arn) throw new Refusal('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`);
  return found;
}

function checkMachine(arn: string): void {
  if (arn !== localMachineArn) throw new Refusal('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: names of executions must not contain control characters
const forbidden = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\u0000-\u001f\u007f-\u009f]/;

function checkName(name: string): void {
  if (name.length < 1 || name.length > 80 || forbidden.test(name))
    throw new Refusal('InvalidName', `Invalid Name: '${name}'`);
}

function checkJson(input: string): void {
  try {
    JSON.parse(input);
  } catch {
    throw new Refusal('InvalidExecutionInput', 'Invalid State Machine Execution Input: it is not JSON.');
  }
}
