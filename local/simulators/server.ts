import { createServer, type Server } from 'node:http';
import { anthropicCountTokens, anthropicMessages } from './anthropic/messages.ts';
import { anthropicModel, anthropicModels } from './anthropic/models.ts';
import { bflCreate, bflResult, bflSample } from './bfl/images.ts';
import { byteplusFile } from './byteplus/files.ts';
import { byteplusDraw, byteplusDrawnFile } from './byteplus/images-draw.ts';
import { byteplusCreateTask, byteplusTask } from './byteplus/tasks.ts';
import { playExchange, type RecordedRequest, readExchange } from './exchange.ts';
import { createGate, type Gate, type GateKeeper } from './gate.ts';
import { googleCountTokens } from './google/count-tokens.ts';
import { googleGenerate } from './google/generate.ts';
import { googleModelWires } from './google/models.ts';
import { openaiSpeech } from './openai/audio-speech.ts';
import { openaiTranscriptions } from './openai/audio-transcriptions.ts';
import { openaiChat } from './openai/chat.ts';
import { openaiEmbeddings } from './openai/embeddings.ts';
import { openaiEditImages, openaiGenerateImages } from './openai/images.ts';
import { openaiModel, openaiModels } from './openai/models.ts';
import { openaiModerations } from './openai/moderations.ts';
import { openaiResponses } from './openai/responses.ts';
import { openaiCreateVideo, openaiVideo, openaiVideoContent } from './openai/videos.ts';
import { type Scenario, scenarioFromPrompt } from './scenario.ts';
import { scriptOf } from './scripted-calls.ts';
import type { Wire } from './wire.ts';

export const anthropicWires: readonly Wire[] = [
  anthropicMessages,
  anthropicCountTokens,
  anthropicModels,
  anthropicModel,
];

export const bflWires: readonly Wire[] = [bflCreate, bflResult, bflSample];

export const byteplusWires: readonly Wire[] = [
  byteplusCreateTask,
  byteplusTask,
  byteplusFile,
  byteplusDraw,
  byteplusDrawnFile,
];

/** Google's Gemini API. */
export const googleWires: readonly Wire[] = [googleGenerate, googleCountTokens, ...googleModelWires];

export const openaiWires: readonly Wire[] = [
  openaiChat,
  openaiResponses,
  openaiEmbeddings,
  openaiModerations,
  openaiModels,
  openaiModel,
  openaiCreateVideo,
  openaiVideo,
  openaiVideoContent,
  openaiTranscriptions,
  openaiSpeech,
  openaiGenerateImages,
  openaiEditImages,
];

const wiresByVendor = {
  openai: openaiWires,
  anthropic: anthropicWires,
  google: googleWires,
  byteplus: byteplusWires,
  bfl: bflWires,
} satisfies Record<string, readonly Wire[]>;

export type SimulatedVendor = keyof typeof wiresByVendor;

const wires: readonly Wire[] = Object.values(wiresByVendor).flat();

export type { RecordedRequest } from './exchange.ts';
export type ScenarioChoice = (request: RecordedRequest) => Scenario | undefined;

export type Simulator = {
  /** URL without a path: `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Requests, oldest first. The list is live: outcomes change while a response is in progress. */
  readonly requests: readonly RecordedRequest[];
  /**
   * Applies to the next request only; several calls queue up. Takes precedence over `setScenario`, which takes
   * precedence over markers in the prompt.
   */
  next(scenario: Scenario): void;
  setScenario(choose: ScenarioChoice | undefined): void;
  /**
   * Applies this scenario to every later request to the provider, before the markers of its prompt. Undefined ends it.
   */
  setFault(vendor: SimulatedVendor, fault: Scenario | undefined): void;
  /** Holds every request until the gate is opened. */
  gate(): Gate;
  /** Clears requests, scenarios and faults, and opens gates. */
  reset(): void;
  stop(): Promise<void>;
};

export type SimulatorOptions = {
  /** 0, the default, lets the system choose. */
  readonly port?: number;
  /** Maximum number of remembered requests; 0 for a server that runs for days. */
  readonly recordedMax?: number;
};

/**
 * Starts a server that simulates the parts of the providers' APIs that the gateway uses, on one port. No model runs.
 */
export async function startSimulator({ port = 0, recordedMax = 10_000 }: SimulatorOptions = {}): Promise<Simulator> {
  const requests: RecordedRequest[] = [];
  const queued: Scenario[] = [];
  const gates: GateKeeper[] = [];
  const faults = new Map<readonly Wire[], Scenario>();
  let choose: ScenarioChoice | undefined;

  const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, async (request, response) => {
    const exchange = await readExchange(request, response).catch(() => undefined);
    // The upload stopped early, so no response is needed.
    if (exchange === undefined) return;
    const { record } = exchange;
    requests.push(record);
    if (requests.length > recordedMax) requests.shift();
    const wire = findWire(record);
    const scenario = queued.shift() ??
      choose?.(record) ??
      faultOf(faults, wire) ?? {
        ...scenarioFromPrompt(wire?.lastUserText(record.body, record) ?? ''),
        script: scriptOf(record.body),
      };
    await playExchange(exchange, wire, scenario, Promise.all(gates.map((gate) => gate.pass())));
  });
  const url = await listen(server, port);

  return {
    url,
    requests,
    next: (scenario) => void queued.push(scenario),
    setScenario(next) {
      choose = next;
    },
    setFault(vendor, fault) {
      if (fault) faults.set(wiresByVendor[vendor], fault);
      else faults.delete(wiresByVendor[vendor]);
    },
    gate() {
      const gate = createGate();
      gates.push(gate);
      return gate;
    },
    reset() {
      for (const gate of gates.splice(0)) gate.open();
      requests.length = 0;
      queued.length = 0;
      faults.clear();
      choose = undefined;
    },
    stop() {
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

/**
 * Returns the endpoint for a request. Real providers have different hosts but share some paths, so the first endpoint
 * that accepts the credentials is chosen here, or else the first with the path.
 */
function findWire(request: RecordedRequest): Wire | undefined {
  const candidates = wires.filter(({ method, path }) => method === request.method && path.test(request.path));
  return candidates.find((wire) => wire.isAuthorized(request.headers, request.query)) ?? candidates[0];
}

function faultOf(faults: ReadonlyMap<readonly Wire[], Scenario>, wire: Wire | undefined): Scenario | undefined {
  if (wire === undefined) return undefined;
  return faults.entries().find(([ofVendor]) => ofVendor.includes(wire))?.[1];
}

function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('The system named no port.'));
      else resolve(`http://127.0.0.1:${address.port}`);
    });
  });
}
