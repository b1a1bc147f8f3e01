import type { Catalog } from '../core/catalog/catalog.ts';
import type { TextModel } from '../core/catalog/schema.ts';
import { textModelOf } from '../core/catalog/text-model.ts';
import type { TextProtocol } from '../core/text/conversation.ts';

const NAMED_MAX = 3;

/** Returns a sentence that names models without this limitation (GEN-11), or an empty string if there are none. */
export type Alternatives = (fits: (model: TextModel) => boolean) => string;

export const alternativesIn =
  (catalog: Catalog, protocol: TextProtocol, nowMs: number): Alternatives =>
  (fits) => {
    const fitting = catalog
      .list(nowMs)
      .flatMap((model) => textModelOf(model) ?? [])
      .filter((model) => model.protocols.includes(protocol) && fits(model))
      .slice(0, NAMED_MAX);
    return fitting.length === 0 ? '' : ` Models without this limit: ${fitting.map(({ id }) => id).join(', ')}.`;
  };
