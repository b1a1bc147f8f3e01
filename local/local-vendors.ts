import type { Environment } from './engine.ts';
import type { Scenario } from './simulators/scenario.ts';
import type { SimulatedVendor } from './simulators/server.ts';
import type { Emulator } from './welcome.ts';

type Vendor = {
  /** Id in the catalog. */
  readonly id: SimulatedVendor;
  readonly name: string;
  readonly key: string;
  readonly address: string;
  /** Path after the host, as the provider's own SDK expects it. */
  readonly path: string;
  /** Text that makes the provider fail if a prompt contains it. */
  readonly markers: string;
};

const textMarkers = '[[status 500]], [[delay 2000]], [[cut 3]]';

const vendors: readonly Vendor[] = [
  {
    id: 'openai',
    name: 'OpenAI',
    key: 'OPENAI_API_KEY',
    address: 'OPENAI_BASE_URL',
    path: '/v1',
    markers: textMarkers,
  },
  {
    id: 'anthropic',
    name: 'Anthropic',
    key: 'ANTHROPIC_API_KEY',
    address: 'ANTHROPIC_BASE_URL',
    path: '',
    markers: textMarkers,
  },
  { id: 'google', name: 'Google', key: 'GEMINI_API_KEY', address: 'GEMINI_BASE_URL', path: '', markers: textMarkers },
  {
    id: 'byteplus',
    name: 'BytePlus',
    key: 'ARK_API_KEY',
    address: 'ARK_BASE_URL',
    path: '/api/v3',
    markers: '[[status 500]], [[takes 30000]], [[video-fails]], [[image-fails]]',
  },
  {
    id: 'bfl',
    name: 'Black Forest Labs',
    key: 'BFL_API_KEY',
    address: 'BFL_BASE_URL',
    path: '',
    markers: '[[status 500]], [[takes 30000]], [[image-fails]]',
  },
];

export type LocalVendor = { readonly id: SimulatedVendor; readonly name: string; readonly isSimulated: boolean };

export type LocalVendors = {
  /** Variables that give the gateway its access to the simulated providers. */
  readonly environment: Readonly<Record<string, string>>;
  readonly emulators: readonly Emulator[];
  readonly vendors: readonly LocalVendor[];
  /** Breaks a simulated provider. Undefined repairs it. */
  setFault(vendor: SimulatedVendor, fault: Scenario | undefined): void;
  stop(): Promise<void>;
};

/** Simulates each provider that has neither key nor base URL in the environment. */
export async function openVendors(own: Environment): Promise<LocalVendors> {
  const found = vendors.map((vendor) => ({ ...vendor, isSimulated: !own[vendor.key] && !own[vendor.address] }));
  const simulator = found.some(({ isSimulated }) => isSimulated) ? await startSimulation() : undefined;
  const environment: Record<string, string> = {};
  const emulators = found.map(({ name, key, address, path, markers, isSimulated }): Emulator => {
    if (own[key] && !own[address]) return [name, 'real, with your key'];
    if (!own[key]) environment[key] = 'local-key';
    if (own[address]) return [name, `yours, at ${own[address]}`];
    if (isSimulated) environment[address] = `${simulator?.url}${path}`;
    return [name, `simulated; ${markers} in a prompt make it fail`];
  });
  return {
    environment,
    emulators,
    vendors: found.map(({ id, name, isSimulated }) => ({ id, name, isSimulated })),
    setFault: (vendor, fault) => simulator?.setFault(vendor, fault),
    stop: async () => simulator?.stop(),
  };
}

/** Loaded only when needed: the simulators take memory. */
const startSimulation = async () => (await import('./simulators/server.ts')).startSimulator({ recordedMax: 0 });
