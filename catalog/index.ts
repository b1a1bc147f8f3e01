import anthropic from './anthropic.json' with { type: 'json' };
import blackForestLabs from './black-forest-labs.json' with { type: 'json' };
import bytedance from './bytedance.json' with { type: 'json' };
import google from './google.json' with { type: 'json' };
import openai from './openai.json' with { type: 'json' };
import providers from './providers.json' with { type: 'json' };

/** Contents of the catalog files, which `loadCatalog` validates. Every list has the order of `companies`. */
export const catalogData: { readonly providers: unknown; readonly companies: Readonly<Record<string, unknown>> } = {
  providers,
  companies: { openai, anthropic, google, bytedance, 'black-forest-labs': blackForestLabs },
};
