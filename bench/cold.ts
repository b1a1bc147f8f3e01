import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { installRuntimeClient } from '../test/runtime-client/install-client.ts';
import { bundleText, runFunction, type Services, startServices } from '../test/runtime-client/text-function.ts';
import { type Cgroup, createCgroup } from './cgroup.ts';
import { chat, event } from './function-event.ts';

/**
 * Measures cold starts of the function `text` under AWS's runtime client: the bundle is that of `cdk deploy`, its database
 * and its provider are local. The function runs on one core, the fakes on another one. `BENCH_BUNDLES` compares bundles
 * in other folders, whose starts alternate. CPU time does not depend on the load of the machine. Needs Linux with
 * `taskset`, and a C++ compiler or `RUNTIME_CLIENT`.
 */
const STARTS = Number(process.env.BENCH_STARTS ?? 20);
const { BENCH_BUNDLES: given = '', RUNTIME_CLIENT } = process.env;
const FUNCTION_CORE = '0';
const FAKES_CORE = '1';

interface Start {
  /** From the start of the process until it requests an event. */
  readonly initMs: number;
  readonly initCpuMs: number;
  /** From the event until its response has ended. */
  readonly answerMs: number;
  readonly answerCpuMs: number;
  readonly memoryMb: number;
}

/** CPU time of all threads of a process, in ms. */
const cpuMs = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    0,
  );

const memoryMb = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

interface Place {
  readonly clientEntry: string;
  readonly services: Services;
  /** Limits the function to half a core. */
  readonly group?: Cgroup | undefined;
}

const start = async (task: string, { clientEntry, services, group }: Place): Promise<Start> => {
  const launcher = [...(group?.launcher ?? []), 'taskset', '-c', FUNCTION_CORE];
  const startedAt = performance.now();
  const started = await runFunction({ clientEntry, task, services, host: { launcher } });
  try {
    await started.api.idle();
    const initMs = performance.now() - startedAt;
    const initCpuMs = cpuMs(started.pid);
    const sentAt = performance.now();
    const invocation = started.api.invoke(event(started.apiKey, '/v1/chat/completions', chat('hello')));
    await invocation.ended;
    const answerMs = performance.now() - sentAt;
    if (!invocation.bytes().includes('"statusCode":200')) throw new Error(invocation.bytes().toString());
    const answerCpuMs = cpuMs(started.pid) - initCpuMs;
    return { initMs, initCpuMs, answerMs, answerCpuMs, memoryMb: memoryMb(started.pid) };
  } finally {
    await started.stop();
  }
};

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

const medianOf = (starts: readonly Start[], of: (start: Start) => number): string => median(starts.map(of)).toFixed(0);

const total = (one: Start): number => one.initMs + one.answerMs;
const totalCpu = (one: Start): number => one.initCpuMs + one.answerCpuMs;

const report = (title: string, tasks: readonly string[], results: readonly (readonly Start[])[]): void => {
  for (const [index, starts] of results.entries()) {
    const row = [
      `init ${medianOf(starts, ({ initMs }) => initMs)} ms (CPU ${medianOf(starts, (one) => one.initCpuMs)})`,
      `first answer ${medianOf(starts, (one) => one.answerMs)} ms (CPU ${medianOf(starts, (one) => one.answerCpuMs)})`,
      `both ${medianOf(starts, total)} ms (CPU ${medianOf(starts, totalCpu)})`,
      `memory ${medianOf(starts, (one) => one.memoryMb)} MB`,
    ];
    console.log(`${title}, ${basename(tasks[index] ?? '')}: ${row.join(', ')}`);
    if (index === 0) continue;
    const ratio = (of: (start: Start) => number): string =>
      median(starts.map((one, at) => of(one) / of(results[0]?.[at] ?? one))).toFixed(2);
    console.log(
      `${title}, ${basename(tasks[index] ?? '')}: ${ratio(total)} of the first bundle, CPU ${ratio(totalCpu)}`,
    );
  }
};

const measure = async (title: string, tasks: readonly string[], place: Place): Promise<void> => {
  const results: Start[][] = tasks.map(() => []);
  for (let round = -1; round < STARTS; round += 1) {
    for (const [index, task] of tasks.entries()) {
      const one = await start(task, place);
      // The first round fills the caches of the system.
      if (round >= 0) results[index]?.push(one);
    }
  }
  report(title, tasks, results);
};

/** Undefined where the kernel allows no control groups. */
const halfCore = (): Cgroup | undefined => {
  try {
    const group = createCgroup(`gateway-cold-${process.pid}`, 2_048);
    group.setCpu(0.5);
    return group;
  } catch (error) {
    console.log(`Half a core: not measured, because control groups cannot be created: ${error}`);
    return undefined;
  }
};

if (spawnSync('taskset', ['--version']).status !== 0) throw new Error('taskset cannot be run. Install util-linux.');
execFileSync('taskset', ['-cp', FAKES_CORE, String(process.pid)], { stdio: 'ignore' });
const folder = mkdtempSync(join(tmpdir(), 'gateway-cold-'));
const services = await startServices();
try {
  const client = RUNTIME_CLIENT ? { entry: RUNTIME_CLIENT } : installRuntimeClient(folder);
  if ('missing' in client) throw new Error(`AWS's runtime client cannot be installed: ${client.missing}`);
  bundleText(join(folder, 'asset'));
  // Outside of the repository, the function finds no packages.
  cpSync(join(folder, 'asset'), join(folder, 'text'), { recursive: true });
  const tasks = [...given.split(',').filter(Boolean), join(folder, 'text')];
  const place = { clientEntry: client.entry, services };
  await measure('One core', tasks, place);
  const group = halfCore();
  if (group) {
    await measure('Half a core', tasks, { ...place, group });
    group.remove();
  }
} finally {
  await services.stop();
  rmSync(folder, { recursive: true, force: true });
}
