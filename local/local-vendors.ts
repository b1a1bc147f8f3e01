import type { Scenario } from './upstreams/scenario.ts';
import { type SimulatedVendor, startSimulator } from './upstreams/server.ts';
import type { StandIn } from './welcome.ts';

type Vendor = {
  /** As the catalog calls it. */
  readonly id: SimulatedVendor;
  readonly name: string;
  readonly key: string;
  readonly address: string;
  /** What the vendor's own SDK expects behind the host. */
  readonly path: string;
  /** What to write into a prompt to see it fail. */
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
  readonly standIns: readonly StandIn[];
  readonly vendors: readonly LocalVendor[];
  /** Of a simulated vendor; undefined repairs it. */
  setFault(vendor: SimulatedVendor, fault: Scenario | undefined): void;
  stop(): Promise<void>;
};

/** A vendor's own key or address in the environment means the real one; where there is neither, a simulated one answers. */
export async function openVendors(environment: NodeJS.ProcessEnv): Promise<LocalVendors> {
  const found = vendors.map((vendor) => ({
    ...vendor,
    isSimulated: !environment[vendor.key] && !environment[vendor.address],
  }));
  const simulator = found.some(({ isSimulated }) => isSimulated) ? await startSimulator({ recordedMax: 0 }) : undefined;
  const standIns = found.map(({ name, key, address, path, markers }): StandIn => {
    if (environment[address]) {
      environment[key] ||= 'local-key';
      return [name, `yours, at ${environment[address]}`];
    }
    if (environment[key]) return [name, 'the real one, with your key'];
    environment[key] = 'local-key';
    environment[address] = `${simulator?.url}${path}`;
    return [name, `simulated; ${markers} in a prompt make it fail`];
  });
  return {
    standIns,
    vendors: found.map(({ id, name, isSimulated }) => ({ id, name, isSimulated })),
    setFault: (vendor, fault) => simulator?.setFault(vendor, fault),
    stop: async () => simulator?.stop(),
  };
}
