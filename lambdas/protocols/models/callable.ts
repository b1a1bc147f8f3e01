import type { Catalog } from '../../core/catalog/catalog.ts';
import type { Model, TextModel } from '../../core/catalog/schema.ts';
import { textModelOf } from '../../core/catalog/text-model.ts';
import { GatewayError } from '../../core/errors/gateway-error.ts';

type NativeProtocol = 'messages' | 'generate_content';

const callableIn = (model: Model, protocol: NativeProtocol): TextModel | undefined => {
  const callable = textModelOf(model);
  return callable?.protocols.includes(protocol) ? callable : undefined;
};

/** A vendor's SDK lists what can be called with it, and the models of others cannot (CAT-7). */
export const listCallable = (catalog: Catalog, protocol: NativeProtocol, nowMs: number): readonly TextModel[] =>
  catalog.list(nowMs).flatMap((model) => callableIn(model, protocol) ?? []);

/** Throws `model_not_found`. */
export const findCallable = (
  catalog: Catalog,
  protocol: NativeProtocol,
  { id, nowMs }: { readonly id: string; readonly nowMs: number },
): TextModel => {
  const model = catalog.find(id, nowMs);
  const callable = model && callableIn(model, protocol);
  if (callable) return callable;
  const message = model ? `The model "${model.id}" is not served in this format.` : catalog.explainMissing(id, nowMs);
  throw new GatewayError('model_not_found', message, { param: 'model' });
};
