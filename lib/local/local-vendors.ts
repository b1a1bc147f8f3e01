import { startSimulator } from './upstreams/server.ts';
import type { StandIn } from './welcome.ts';

type Vendor = {
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
  { name: 'OpenAI', key: 'OPENAI_API_KEY', address: 'OPENAI_BASE_URL', path: '/v1', markers: textMarkers },
  { name: 'Anthropic', key: 'ANTHROPIC_API_KEY', address: 'ANTHROPIC_BASE_URL', path: '', markers: textMarkers },
  { name: 'Google', key: 'GEMINI_API_KEY', address: 'GEMINI_BASE_URL', path: '', markers: textMarkers },
  {
    name: 'BytePlus',
    key: 'ARK_API_KEY',
    address: 'ARK_BASE_URL',
    path: '/api/v3',
    markers: '[[status 500]], [[takes 30000]], [[video-fails]], [[image-fails]]',
  },
  {
    name: 'Black Forest Labs',
    key: 'BFL_API_KEY',
    address: 'BFL_BASE_URL',
    path: '',
    markers: '[[status 500]], [[takes 30000]], [[image-fails]]',
  },
];

export type LocalVendors = { readonly standIns: readonly StandIn[]; stop(): Promise<void> };

/** A vendor's own key or address in the environment means the real one; where there is neither, a simulated one answers. */
export async function openVendors(environment: NodeJS.ProcessEnv): Promise<LocalVendors> {
  const isSimulated = ({ key, address }: Vendor) => !environment[key] && !environment[address];
  const simulator = vendors.some(isSimulated) ? await startSimulator({ recordedMax: 0 }) : undefined;
  const standIns = vendors.map((vendor): StandIn => {
    const { name, key, address, path, markers } = vendor;
    if (environment[address]) {
      environment[key] ||= 'local-key';
      return [name, `yours, at ${environment[address]}`];
    }
    if (environment[key]) return [name, 'the real one, with your key'];
    environment[key] = 'local-key';
    environment[address] = `${simulator?.url}${path}`;
    return [name, `simulated; ${markers} in a prompt make it fail`];
  });
  return { standIns, stop: async () => simulator?.stop() };
}
