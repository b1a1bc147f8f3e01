import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PICOS_PER_USD } from '../../lambdas/core/money/usd.ts';
import type { FunctionDependencies } from '../../lambdas/functions/wiring/dependencies.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { errorSchema, LASTING_MODEL, MODEL, pricesOf, saying } from '../support/gateway-chat.ts';
import { startInProcess, TEST_DAY } from '../support/in-process-gateway.ts';
import {
  createMoment,
  type Fault,
  withAnswerFaults,
  withClaimFaults,
  withCounterFaults,
  withFaults,
  withKeyFaults,
  withOutboxFaults,
} from '../support/memory/faults.ts';
import { capComplaints } from './capped-account.ts';

/** Possible faults of a call to an embedded store. */
const kinds = ['fails', 'conflict', 'loses-reply', 'lands-late'] as const;
type Kind = (typeof kinds)[number];

interface Call {
  readonly name: string;
  /** Index of the call among the calls with this name in one request, from 0. */
  readonly turn: number;
}

interface Case {
  readonly title: string;
  readonly faultAt: (call: Call) => Kind | undefined;
  readonly landsAfterSweep?: boolean;
  /** Allowed results for the client. Undefined: a complete response or an error. */
  readonly results?: readonly string[];
  /** The charge was written without a reply, and later nothing could be read or put into the outbox (BILL-14). */
  readonly mayBeCharged?: boolean;
}

interface Scenario {
  readonly title: string;
  readonly path: string;
  readonly model: string;
  readonly body: (mark: string) => object;
  readonly isKeyed?: boolean;
  /** Whether the API key has a cap per day. Each request then arrives on another day. */
  readonly isCapped?: boolean;
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

const USED = { prompt_tokens: 70, completion_tokens: 21 };
const chat = (mark: string) => ({ model: MODEL, messages: saying(mark), max_tokens: 100 });
const chats = { path: '/v1/chat/completions', model: MODEL, usage: USED };
const chatWithCap = (mark: string) => ({ ...chat(mark), model: LASTING_MODEL });
const lasting = { ...chats, model: LASTING_MODEL };
const scenarios: readonly Scenario[] = [
  { title: 'a chat', ...chats, body: chat },
  { title: 'a chat stream', ...chats, body: (mark) => ({ ...chat(mark), stream: true }) },
  { title: 'a chat with an idempotency key', ...chats, body: chat, isKeyed: true },
  { title: 'a chat with a cap', ...lasting, body: chatWithCap, isCapped: true },
  {
    title: 'a chat with an idempotency key and a cap',
    ...{ ...lasting, body: chatWithCap, isKeyed: true, isCapped: true },
  },
  {
    title: 'an embedding',
    path: '/v1/embeddings',
    model: 'text-embedding-3-small',
    body: (mark) => ({ model: 'text-embedding-3-small', input: `${mark} ${'word '.repeat(100)}` }),
    usage: { ...USED, completion_tokens: 0 },
  },
];

const DAY_MS = 86_400_000;
let vendor: Simulator;
beforeAll(async () => {
  vendor = await startSimulator({ recordedMax: 100 });
  vendor.setScenario(() => ({ claimedUsage: { input: USED.prompt_tokens, output: USED.completion_tokens } }));
});
afterAll(() => vendor?.stop());

type FaultAt = (call: Call) => Kind | undefined;

/** Opens a gateway whose stores fail as the current request requires, with one customer. */
const openScene = async ({ isCapped = false }: Scenario) => {
  const none: FaultAt = () => undefined;
  const request = { calls: [] as string[], faultAt: none, moment: createMoment() };
  let landed: readonly (() => Promise<void>)[] = [];
  let dayMs = 0;
  let days = 0;
  const planFor =
    (store: string) =>
    (method: string): Fault | undefined => {
      const name = `${store}.${method}`;
      const turn = request.calls.filter((call) => call === name).length;
      request.calls.push(name);
      const kind = request.faultAt({ name, turn });
      return kind === 'lands-late' ? { kind, until: request.moment.until } : kind && { kind };
    };
  const change = (deps: FunctionDependencies): Partial<FunctionDependencies> => {
    const faulty = {
      addressCounters: withCounterFaults(deps.addressCounters, planFor('addresses')),
      keys: withKeyFaults(deps.keys, planFor('keys')),
      ledgerStore: withFaults(deps.ledgerStore, planFor('ledger')),
      outbox: withOutboxFaults(deps.outbox, planFor('outbox')),
      claims: withClaimFaults(deps.claims, planFor('claims')),
      answers: withAnswerFaults(deps.answers, planFor('answers')),
    };
    landed = Object.values(faulty).map((store) => store.landed);
    return faulty;
  };
  const now = (): number => TEST_DAY + days * DAY_MS + dayMs + Math.floor(performance.now());
  const gateway = await startInProcess({ vendorUrl: vendor.url, now, change });
  const sweep = async (): Promise<void> => {
    dayMs = DAY_MS;
    for (let round = 0; round < 3; round += 1) await gateway.sweep();
    dayMs = 0;
  };
  const { accountId, apiKey } = await gateway.issue({ balanceUsd: '1000' });
  const capped = isCapped ? await addCappedKey(gateway.url, apiKey) : undefined;
  return {
    ...gateway,
    accountId,
    apiKey: capped?.apiKey ?? apiKey,
    /** Returns the violations of the cap. */
    capComplaints: async (): Promise<readonly string[]> => {
      if (!capped) return [];
      const account = await gateway.ledger.readAccount(accountId);
      const key = { accountId, keyId: capped.keyId, limitPicos: LIMIT_PICOS };
      return account ? capComplaints(account, await gateway.recordsOf(accountId), key) : ['no account'];
    },
    begin: (faultAt: FaultAt): void => {
      Object.assign(request, { calls: [], faultAt, moment: createMoment() });
    },
    /** Ends the faults. Late writes are executed before or after a sweep. Returns the calls of the request. */
    end: async (landsAfterSweep: boolean): Promise<readonly string[]> => {
      await gateway.idle();
      const calls = [...request.calls];
      request.faultAt = none;
      if (landsAfterSweep) await sweep();
      request.moment.come();
      await Promise.all(landed.map((wait) => wait()));
      await sweep();
      if (isCapped) days += 1;
      return calls;
    },
  };
};

const LIMIT_PICOS = 5n * PICOS_PER_USD;

const addCappedKey = async (url: string, apiKey: string) => {
  const response = await fetch(`${url}/api/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Capped', limit_usd: '5', limit_period: 'day' }),
  });
  const { id, key } = await response.json();
  return { keyId: String(id), apiKey: String(key) };
};

type Scene = Awaited<ReturnType<typeof openScene>>;

const onScene = async <T>(scenario: Scenario, work: (scene: Scene) => Promise<T>): Promise<T> => {
  const scene = await openScene(scenario);
  try {
    return await work(scene);
  } finally {
    await scene.stop();
  }
};

/** Returns `served` for a complete response, otherwise the status and the code. */
const resultOf = ({ status, text, isStream }: { status: number; text: string; isStream: boolean }): string => {
  const codeOf = (json: string) => errorSchema.safeParse(JSON.parse(json)).data?.error.code;
  if (status !== 200) return `${status} ${codeOf(text)}`;
  if (!isStream) return 'served';
  const events = text.split('\n\n').filter((event) => event.startsWith('data: '));
  return events.at(-1) === 'data: [DONE]' ? 'served' : `event ${codeOf((events.at(-1) ?? '{}').slice(6))}`;
};

let marks = 0;

/** Sends one request with faults, sweeps, and returns the resulting charges and balance. */
const play = async (scene: Scene, { path, body, isKeyed }: Scenario, one: Omit<Case, 'title'>) => {
  marks += 1;
  const mark = `request-${marks}-of-the-test`;
  const before = new Set((await scene.recordsOf(scene.accountId)).map(({ holdId }) => holdId));
  scene.begin(one.faultAt);
  const response = await fetch(`${scene.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${scene.apiKey}`,
      'content-type': 'application/json',
      ...(isKeyed ? { 'idempotency-key': mark } : {}),
    },
    body: JSON.stringify(body(mark)),
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const result = resultOf({ status: response.status, text: await response.text(), isStream });
  const calls = await scene.end(one.landsAfterSweep === true);
  const records = await scene.recordsOf(scene.accountId);
  const charges = records.filter(({ holdId, outcome }) => !before.has(holdId) && outcome === 'settled');
  const [audit] = await scene.audit();
  return {
    result,
    calls,
    charges: charges.map(({ amountPicos }) => amountPicos),
    problems: [
      ...(audit?.findings ?? ['no audit']),
      ...(await scene.capComplaints()),
      ...(audit?.openHolds ? [`${audit.openHolds} holds are open`] : []),
    ],
    providerCalls: vendor.requests.filter(({ body: sent }) => JSON.stringify(sent)?.includes(mark)).length,
  };
};

/** Returns a sentence for each wrong case. A complete response is charged exactly once. Anything else costs nothing. */
const failing = async (scene: Scene, scenario: Scenario, cases: readonly Case[]): Promise<readonly string[]> => {
  const price = (await pricesOf(scene, scenario.model))(scenario.usage);
  const wrong: string[] = [];
  for (const one of cases) {
    const { result, calls, charges, problems, providerCalls } = await play(scene, scenario, one);
    const isPaid = charges.length === 1 && charges[0] === price && providerCalls === 1;
    const isRight = result === 'served' ? isPaid : charges.length === 0 || (one.mayBeCharged === true && isPaid);
    const isExpected = one.results?.includes(result) ?? true;
    if (isRight && isExpected && problems.length === 0) continue;
    wrong.push(`${one.title}: ${result}, ${providerCalls} calls, charges ${charges}, ${problems}; ${calls}`);
  }
  return wrong;
};

const at = (name: string, turn: number, kind: Kind) => (call: Call) =>
  call.name === name && call.turn === turn ? kind : undefined;
const always = (prefix: string, kind: Kind) => (call: Call) => (call.name.startsWith(prefix) ? kind : undefined);

/** Returns every call of a successful request, with its index. */
const turnsOf = async (scene: Scene, scenario: Scenario): Promise<readonly Call[]> => {
  const { calls } = await play(scene, scenario, { faultAt: () => undefined });
  return calls.map((name, index) => ({ name, turn: calls.slice(0, index).filter((other) => other === name).length }));
};

const oneFault = (turns: readonly Call[]): readonly Case[] =>
  turns.flatMap(({ name, turn }) =>
    kinds.flatMap((kind) => {
      const one: Case = { title: `${kind} at ${name} ${turn}`, faultAt: at(name, turn, kind), results: ['served'] };
      return kind === 'lands-late' ? [one, { ...one, landsAfterSweep: true }] : [one];
    }),
  );

const unseen = ['loses-reply', 'lands-late'] as const;

/** Cases that lose two calls, or a call and its retry. */
const twoLost = (turns: readonly Call[]): readonly Case[] =>
  turns.flatMap((first, index) =>
    [{ ...first, turn: first.turn + 1 }, ...turns.slice(index + 1)].flatMap((second) =>
      unseen.flatMap((one) =>
        unseen.map(
          (other): Case => ({
            title: `${one} at ${first.name} ${first.turn} and ${other} at ${second.name} ${second.turn}`,
            faultAt: (call) => at(first.name, first.turn, one)(call) ?? at(second.name, second.turn, other)(call),
            results: ['served'],
          }),
        ),
      ),
    ),
  );

const alwaysFails = (turns: readonly Call[]): readonly Case[] =>
  [...new Set(turns.map(({ name }) => name)), 'ledger.', 'claims.', 'outbox.', 'answers.'].flatMap((name) =>
    kinds.map((kind): Case => ({ title: `always ${kind} at ${name}`, faultAt: always(name, kind) })),
  );

const nothingRecorded = (): readonly Case[] =>
  kinds.map((kind) => ({
    title: `always ${kind} at every charge, without an outbox`,
    faultAt: (call) => always('ledger.putRecord', kind)(call) ?? always('outbox.', 'fails')(call),
    results: ['503 service_unavailable', 'event service_unavailable'],
    mayBeCharged: kind === 'loses-reply' || kind === 'lands-late',
  }));

const groups = [
  { title: 'with one fault of an embedded store is charged once', casesOf: oneFault },
  { title: 'with two lost writes of embedded stores is charged once', casesOf: twoLost },
  { title: 'with a store that always fails is charged once or never', casesOf: alwaysFails },
  { title: 'that can be neither charged nor put into the outbox is withheld', casesOf: nothingRecorded },
];

describe.each(groups)('$title', ({ title, casesOf }) => {
  test.concurrent.each(scenarios)(`BILL-13 BILL-14 $title ${title}`, async (scenario) => {
    const wrong = await onScene(scenario, async (scene) =>
      failing(scene, scenario, casesOf(await turnsOf(scene, scenario))),
    );
    expect(wrong).toEqual([]);
  });
});
