import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { type Route, type RouteName, routes } from '../../lambdas/routes.ts';
import { buildPages } from '../../lib/pages/build-pages.ts';
import { operations } from '../../reference/operations.ts';
import { type CodeSample, codeSamplesOf } from '../../reference/samples/code-samples.ts';
import { sampleRequestOf } from '../../reference/samples/sample-request.ts';
import { until } from '../support/gateway-process.ts';
import { frozenClock, unlimited } from '../support/in-process-gateway.ts';
import { readReference, rowsOf } from '../support/reference-document.ts';
import { fileOf, startReferenceCustomer } from './reference-customer.ts';

const root = join(import.meta.dirname, '../..');
const rows = rowsOf(readReference());

/** Code sample of a route. */
export interface RouteSample extends CodeSample {
  readonly name: RouteName;
  /** Media type of the response. */
  readonly accepts: string;
}

/** The receipts of one request make a short list. */
const first: readonly RouteName[] = [
  'chatCompletions',
  'listUsage',
  'getUsageSummary',
  'getStatement',
  'getAccount',
  'listKeys',
];

const entries = (): readonly (readonly [RouteName, Route])[] => {
  const found: (readonly [RouteName, Route])[] = [];
  let name: RouteName;
  for (name in routes) found.push([name, routes[name]]);
  const rank = ([each]: readonly [RouteName, Route]) => first.indexOf(each) + 1 || first.length + 1;
  return found.toSorted((one, other) => rank(one) - rank(other));
};

/** Every sample in a language. Streams are last, so that the list of receipts has one request. */
export const samplesIn = (lang: CodeSample['lang']): readonly RouteSample[] =>
  entries()
    .flatMap(([name, route]) =>
      codeSamplesOf(name, route, operations[name])
        .filter((sample) => sample.lang === lang)
        .map((sample) => ({ name, accepts: acceptedBy(name, route, sample), ...sample })),
    )
    .toSorted((one, other) => Number(isStream(one)) - Number(isStream(other)));

const isStream = ({ label }: CodeSample): boolean => label.endsWith('stream');

const acceptedBy = (name: RouteName, route: Route, sample: CodeSample): string =>
  isStream(sample) ? 'text/event-stream' : sampleRequestOf(route, operations[name]).accepts;

export interface ProgramResult {
  readonly status: number | null;
  readonly output: Buffer;
  readonly errors: string;
}

/** A gateway with an account, a folder with the files that samples send, and a way to run samples against both. */
export type SampleRunner = Awaited<ReturnType<typeof startSampleRunner>>;

const withId = z.looseObject({ id: z.string() });

export const startSampleRunner = async () => {
  const pages = await buildPages();
  const customer = await startReferenceCustomer({ now: frozenClock, environment: unlimited, pages });
  // Packages resolve in this folder.
  const folder = mkdtempSync(join(root, 'node_modules', '.samples-'));
  for (const name of ['boat.png', 'evening.wav'])
    writeFileSync(join(folder, name), Buffer.from(await fileOf(name).arrayBuffer()));

  const send = async (name: RouteName, sent?: Parameters<typeof customer.send>[1]): Promise<Response> => {
    const row = rows.find(({ operation }) => operation.operationId === name);
    if (!row) throw new Error(`${name} is not described`);
    return customer.send(row, sent);
  };
  const [start] = Object.values(operations.takeUpdate.json?.examples ?? {});
  if (start) await send('takeUpdate', { value: z.record(z.string(), z.json()).parse(start.value) });
  const newId = async (name: RouteName, value: Parameters<typeof JSON.stringify>[0] & object): Promise<string> =>
    withId.parse(await (await send(name, { value: z.record(z.string(), z.json()).parse(value) })).json()).id;

  const newVideo = async (): Promise<string> => {
    const id = await newId('createVideo', {
      model: 'seedance-2-0-fast',
      prompt: 'A paper boat on a lake [[takes 50]]',
    });
    await until('the end of the video', async () => {
      const body: unknown = await (await send('getVideo', { path: { id } })).json();
      return z.looseObject({ status: z.string() }).parse(body).status === 'completed' ? body : undefined;
    });
    return id;
  };
  const newImage = async (): Promise<string> => {
    const drawn = await send('generateImages', {
      value: { model: 'gpt-image-2', prompt: 'A boat', response_format: 'url' },
    });
    const [image] = z.looseObject({ data: z.array(z.looseObject({ url: z.string() })) }).parse(await drawn.json()).data;
    return image?.url.split('/').at(-1) ?? '';
  };
  const newRequest = async (): Promise<string> => {
    const value = { model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'Hello' }] };
    return (await send('chatCompletions', { value })).headers.get('x-request-id') ?? '';
  };
  const appKey = async (): Promise<string> =>
    z.looseObject({ key: withId }).parse(await (await send('getAppAccount')).json()).key.id;
  const appAccount = async (): Promise<string> => withId.parse(await (await send('getAppAccount')).json()).id;
  const key = () => newId('createKey', { name: 'My application' });
  const keyOfApp = () => newId('createAppKey', { name: 'My application' });

  /** Values of a sample that exist only in a running gateway: the value in the document, and how to create one. */
  const created: Partial<Record<RouteName, readonly [shown: string, create: () => Promise<string>]>> = {
    getMedia: ['1795086400-0f1e2d3c4b5a69788796a5b4c3d2e1f0', newImage],
    getVideo: ['video_01KAJ2Z8D5M8R3V0C7Q4T9XW1B', newVideo],
    getVideoContent: ['video_01KAJ2Z8D5M8R3V0C7Q4T9XW1B', newVideo],
    deleteVideo: ['video_01KAJ2Z8D5M8R3V0C7Q4T9XW1B', newVideo],
    getUsage: ['01KAJ2Z8D5M8R3V0C7Q4T9XW1B', newRequest],
    getKey: ['0123456789abcdef', key],
    editKey: ['0123456789abcdef', key],
    deleteKey: ['0123456789abcdef', key],
    rotateKey: ['0123456789abcdef', appKey],
    getAppKey: ['0123456789abcdef', keyOfApp],
    editAppKey: ['0123456789abcdef', keyOfApp],
    deleteAppKey: ['0123456789abcdef', keyOfApp],
    creditAccount: ['account-1', appAccount],
  };

  return {
    folder,
    nowMs: customer.gateway.now(),
    /** Returns a sample's source with ids that exist. Throws an Error if the documented id is not in it. */
    prepare: async ({ name, source }: RouteSample): Promise<string> => {
      const [shown, create] = created[name] ?? [];
      if (shown === undefined || !create) return source;
      if (!source.includes(shown)) throw new Error(`${name}: the sample does not contain ${shown}`);
      return source.replaceAll(shown, await create());
    },
    run: async (command: string, args: readonly string[]): Promise<ProgramResult> => {
      const { PATH } = process.env;
      const child = spawn(command, args, {
        cwd: folder,
        env: { ...(PATH !== undefined && { PATH }), ...customer.environment() },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const pieces: Buffer[] = [];
      child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
      const [errors, status] = await Promise.all([
        text(child.stderr),
        new Promise<number | null>((resolve) => child.once('close', resolve)),
      ]);
      return { status, output: Buffer.concat(pieces), errors };
    },
    stop: async (): Promise<void> => {
      await customer.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
