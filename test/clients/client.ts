/** Protocols that a client can speak to the gateway. */
export type Route = 'chat' | 'responses' | 'messages' | 'gemini' | 'embeddings' | 'images';

/** Scenarios in the order of the table in the guide. */
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

/** Expected traffic of a scenario. An empty object means the usual number of requests and no ignored fields. */
export interface Expectation {
  /**
   * Number of model requests that the gateway receives. Default: `naturalRequests`, plus the client's retries in
   * `error_429` and `error_500`.
   */
  readonly requests?: number;
  /** Names in `X-Service-Ignored-Parameters` over all requests of the scenario, sorted. Default: none. */
  readonly ignored?: readonly string[];
  /** Requests that the client repeats in another form after a 400, by its own design. Default: 0. */
  readonly refused?: number;
  /** The scenario fails for this reason in any gateway, such as a limit of the provider. It is run and must fail. */
  readonly limit?: string;
}

/** Scenarios of a client on one route with one model. Absent scenarios are not run. */
export interface Case {
  readonly route: Route;
  /** Model id in the gateway's catalog. */
  readonly model: string;
  readonly scenarios: Readonly<Partial<Record<ScenarioName, Expectation>>>;
}

/** Scenarios in the order of the table. */
export const scenariosOf = ({ scenarios }: Case): readonly (readonly [ScenarioName, Expectation])[] =>
  scenarioNames.flatMap((name) => {
    const expectation = scenarios[name];
    return expectation === undefined ? [] : [[name, expectation] as const];
  });

export type Install =
  /** Packages of `test/clients/js` or `test/clients/cli`, with their lock file. */
  | { readonly kind: 'npm'; readonly folder: 'js' | 'cli' }
  /** `test/clients/py/<requirements>.txt` in a virtual environment of that name. */
  | { readonly kind: 'venv'; readonly requirements: string }
  /** Jars of `test/clients/java/pom.xml`, with their checksums. */
  | { readonly kind: 'maven'; readonly folder: 'java' };

export interface Client {
  /** File name of the field recording, and the value of `--only`. */
  readonly id: string;
  readonly title: string;
  readonly install: Install;
  /** Packages whose pinned versions are shown. The pins themselves are in the files of `install`. */
  readonly packages: readonly string[];
  /**
   * Path below `test/clients`. `js/*.mjs`, `py/*.py` and `java/*.java` are programs that read scenarios from stdin.
   * `cli/*.ts` exports a `CommandLine`.
   */
  readonly program: string;
  /**
   * File below `test/clients` whose set-up the guide shows: the text between the marks `set-up` and `end`, or all of it
   * if it has no marks. Default: `program`.
   */
  readonly setUp?: string;
  /** Number of retries after a 429 or a 500, by the client's documented policy. */
  readonly retries: { readonly on429: number; readonly on500: number };
  readonly cases: readonly Case[];
}

/** Number of model requests of each scenario, without the client's retries. */
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

/** One model per provider for chat completions. */
export const chatModels = ['gpt-5.4-mini', 'claude-haiku-4-5', 'gemini-3.5-flash-lite'] as const;

/** The model of each route except chat completions. */
export const nativeModels = {
  responses: 'gpt-5.5-pro',
  messages: 'claude-haiku-4-5',
  gemini: 'gemini-3.5-flash-lite',
  embeddings: 'text-embedding-3-small',
  images: 'gpt-image-2.6-flare',
} as const;

type Changes = Readonly<Partial<Record<ScenarioName, Expectation | undefined>>>;

/** Every scenario with an empty expectation, except for the changes. `undefined` omits a scenario. */
export const allScenarios = (changes: Changes = {}): Case['scenarios'] =>
  Object.fromEntries(
    scenarioNames
      .map((name) => [name, name in changes ? changes[name] : {}] as const)
      .filter(([, expectation]) => expectation !== undefined),
  );
