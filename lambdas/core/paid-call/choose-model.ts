import type { Catalog } from '../catalog/catalog.ts';
import type { Model, ModelKind, Protocol } from '../catalog/schema.ts';
import { textModelOf } from '../catalog/text-model.ts';
import { GatewayError, invalidRequest } from '../errors/gateway-error.ts';

const endpoints: Record<Protocol, string> = {
  chat_completions: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  generate_content: '/v1beta/models/{model}:generateContent',
  images_generations: '/v1/images/generations',
  images_edits: '/v1/images/edits',
  videos: '/v1/videos',
  audio_transcriptions: '/v1/audio/transcriptions',
  audio_speech: '/v1/audio/speech',
  moderations: '/v1/moderations',
  embeddings: '/v1/embeddings',
};

type ModelOf<Kind extends ModelKind> = Extract<Model, { kind: Kind }>;

const isKind = <Kind extends ModelKind>(model: Model, kind: Kind): model is ModelOf<Kind> => model.kind === kind;

/** A model that draws is one for text where it is called so (GEN-11). */
const seenAs = (model: Model, kind: ModelKind): Model => (kind === 'text' && textModelOf(model)) || model;

/** CAT-6 and GEN-11. `param` is where the request names its model. */
export const chooseModel = <Kind extends ModelKind>(
  catalog: Catalog,
  { modelId, protocol, kind, nowMs }: { modelId: string; protocol: Protocol; kind: Kind; nowMs: number },
): ModelOf<Kind> => {
  const model = catalog.find(modelId, nowMs);
  if (!model) {
    throw new GatewayError('model_not_found', catalog.explainMissing(modelId, nowMs, protocol), { param: 'model' });
  }
  const protocols: readonly Protocol[] = model.protocols;
  if (!protocols.includes(protocol)) {
    const fitting = protocols.map((name) => endpoints[name]).join(' or ');
    throw invalidRequest('model', `model: "${model.id}" is not served here, but at ${fitting}.`);
  }
  const seen = seenAs(model, kind);
  if (!isKind(seen, kind)) throw unavailable(model);
  return seen;
};

export const unavailable = ({ id }: Model): GatewayError =>
  new GatewayError('model_unavailable', `"${id}" cannot be reached at present. Choose another model.`, {
    param: 'model',
  });
