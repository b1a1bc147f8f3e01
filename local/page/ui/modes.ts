import { OWN_REQUEST } from './wire.ts';

/** Modes of the playground, in the order of its tabs. */
export const modes = ['chat', 'responses', 'images', 'speech', 'video'] as const;
export type Mode = (typeof modes)[number];

interface ModeFacts {
  readonly label: string;
  /** Protocol that a model of the mode supports. */
  readonly protocol: string;
  /** Kind of the mode's models in the public list. */
  readonly kind: string;
  readonly path: string;
}

export const modeFacts: Readonly<Record<Mode, ModeFacts>> = {
  chat: { label: 'Chat', protocol: 'chat_completions', kind: 'text', path: '/v1/chat/completions' },
  responses: { label: 'Responses', protocol: 'responses', kind: 'text', path: '/v1/responses' },
  images: { label: 'Images', protocol: 'images_generations', kind: 'image', path: '/v1/images/generations' },
  speech: { label: 'Speech', protocol: 'audio_speech', kind: 'speech', path: '/v1/audio/speech' },
  video: { label: 'Video', protocol: 'videos', kind: 'video', path: '/v1/videos' },
};

/** Model of `GET /api/models`, with the members that the playground reads. */
export interface GatewayModel {
  readonly id: string;
  readonly kind: string;
  readonly owned_by: string;
  readonly protocols: readonly string[];
  readonly prices: readonly { readonly prices_usd: Readonly<Record<string, string>> }[];
  readonly examples: readonly { readonly size: string | null; readonly usd: string }[];
  readonly limits: {
    /** Rule for the size of an image. */
    readonly size?: SizeRule;
    /** Sizes of a video. */
    readonly sizes?: readonly string[];
    readonly seconds?: readonly string[];
    readonly voices?: readonly string[];
  };
  readonly capabilities: { readonly sampling?: boolean; readonly streaming?: boolean };
  readonly lifecycle: { readonly shutdown_date: string | null };
}

interface SizeRule {
  readonly mode: string;
  readonly values?: readonly string[];
  readonly tiers?: readonly string[] | Readonly<Record<string, readonly string[]>>;
}

/** Returns the public list of models. Throws an Error if the gateway does not respond with it. */
export const fetchModels = async (): Promise<readonly GatewayModel[]> => {
  const response = await fetch('/api/models', { headers: OWN_REQUEST });
  if (!response.ok) throw new Error(`GET /api/models returned the status ${response.status}.`);
  const { data }: { data: readonly GatewayModel[] } = await response.json();
  return data;
};

/** Returns the models that the mode can call, in the order of the list. */
export const modelsOf = (mode: Mode, models: readonly GatewayModel[]): readonly GatewayModel[] => {
  const { protocol, kind } = modeFacts[mode];
  return models.filter((model) => model.kind === kind && model.protocols.includes(protocol));
};

/** Returns the cheapest model that has no shutdown date, or the cheapest one. Undefined for an empty list. */
export const firstModelOf = (models: readonly GatewayModel[]): GatewayModel | undefined => {
  const lasting = models.filter(({ lifecycle }) => lifecycle.shutdown_date === null);
  return [...(lasting.length > 0 ? lasting : models)].sort((one, other) => priceOf(one) - priceOf(other))[0];
};

/** Returns a price in USD to compare models of one mode: of an example request, or of an output token. */
const priceOf = ({ examples, prices }: GatewayModel): number =>
  Number(examples[0]?.usd ?? prices[0]?.prices_usd.output ?? Number.POSITIVE_INFINITY);

/** Returns sizes that the model accepts. Empty if it has no field for the size. */
export const sizesOf = ({ limits: { size, sizes }, examples }: GatewayModel): readonly string[] => {
  if (sizes) return sizes;
  if (!size || size.mode === 'ignored' || size.mode === 'forbidden') return [];
  const tiers = Array.isArray(size.tiers) ? size.tiers : Object.values(size.tiers ?? {}).flat();
  const listed = [...(size.values ?? []), ...tiers];
  // A model with free sizes lists none, but its price list has some.
  const shown = size.mode === 'free' || size.mode === 'pixels' ? examples.flatMap(({ size: of }) => of ?? []) : [];
  return [...new Set([...listed, ...shown])];
};
