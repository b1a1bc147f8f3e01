/** Protocols that a client can speak to the gateway. */
export type Route = 'chat' | 'responses' | 'messages' | 'gemini';

/** The order is that of the table in the guide. */
export const scenarioNames = [
  'plain',
  'stream',
  'tools',
  'tools_dump',
  'structured',
  'image',
  'turns',
  'error_401',
  'error_402',
  'error_429',
  'error_500',
  'error_context',
] as const;

export type ScenarioName = (typeof scenarioNames)[number];

/** Expected traffic of one scenario. An empty object expects the natural number of requests and an empty list. */
export interface Expectation {
  /** Requests for an answer at the gateway. Default: `naturalRequests`, or one and the retries of the row. */
  readonly requests?: number;
  /** Names in `X-Service-Ignored-Parameters`, over all requests of the scenario, sorted. Default: none. */
  readonly ignored?: readonly string[];
  /** Requests that the client tries, and sends in another form after a 400 by its own design. Default: 0. */
  readonly refused?: number;
  /** The scenario fails for this reason in any gateway, such as a limit of the vendor. It is run and must fail. */
  readonly limit?: string;
}

/** Scenarios of a client on one route with one model. A scenario that is absent is not run. */
export interface Case {
  readonly route: Route;
  /** Id of the gateway's catalog. */
  readonly model: string;
  readonly scenarios: Readonly<Partial<Record<ScenarioName, Expectation>>>;
}

/** Scenarios that are run, in the order of the table. */
export const scenariosOf = ({ scenarios }: Case): readonly (readonly [ScenarioName, Expectation])[] =>
  scenarioNames.flatMap((name) => {
    const expectation = scenarios[name];
    return expectation === undefined ? [] : [[name, expectation] as const];
  });

export type Install =
  /** Packages of `test/clients/js` or `test/clients/cli`, with their lock file. */
  | { readonly kind: 'npm'; readonly folder: 'js' | 'cli' }
  /** `test/clients/py/<requirements>.txt` in a virtual environment of that name. */
  | { readonly kind: 'venv'; readonly requirements: string };

export interface Client {
  /** File name of the field recording, and the value of `--only`. */
  readonly id: string;
  readonly title: string;
  readonly install: Install;
  /** Packages whose pinned versions are shown. The pins themselves are in the files of `install`. */
  readonly packages: readonly string[];
  /**
   * Path below `test/clients`. `js/*.mjs` and `py/*.py` are programs that read scenarios from stdin. `cli/*.ts` exports a
   * `CommandLine`.
   */
  readonly program: string;
  /**
   * Path below `test/clients` of what the guide shows: the text between the marks `set-up` and `end`, or a whole file without
   * marks. Default: the program.
   */
  readonly setUp?: string;
  /** Requests that the client repeats by itself after a 429 or a 500, by its documented policy. */
  readonly retries: { readonly on429: number; readonly on500: number };
  readonly cases: readonly Case[];
}

/** Requests of a scenario in which every request succeeds. */
export const naturalRequests: Readonly<Record<ScenarioName, number>> = {
  plain: 1,
  stream: 1,
  tools: 2,
  tools_dump: 2,
  structured: 1,
  image: 1,
  turns: 3,
  error_401: 1,
  error_402: 1,
  error_429: 1,
  error_500: 1,
  error_context: 1,
};

/** One model per vendor for chat completions. */
export const chatModels = ['gpt-5.4-mini', 'claude-haiku-4-5', 'gemini-3.5-flash-lite'] as const;

/** The model of each native route. */
export const nativeModels = {
  responses: 'gpt-5.5-pro',
  messages: 'claude-haiku-4-5',
  gemini: 'gemini-3.5-flash-lite',
} as const;

type Changes = Readonly<Partial<Record<ScenarioName, Expectation | undefined>>>;

/** Every scenario with an empty expectation, except for the changes. `undefined` leaves a scenario out. */
export const allScenarios = (changes: Changes = {}): Case['scenarios'] =>
  Object.fromEntries(
    scenarioNames
      .map((name) => [name, name in changes ? changes[name] : {}] as const)
      .filter(([, expectation]) => expectation !== undefined),
  );
