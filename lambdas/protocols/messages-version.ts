import { invalidRequest } from '../core/errors/gateway-error.ts';

/**
 * AUTH-2: the provider's header, so that its SDKs work unchanged, and the gateway's own. The SDKs send the later
 * version, which only rejects more: sampling fields, documents of the assistant and citations of the user. The gateway
 * always calls the provider with the first version. https://platform.claude.com/docs/en/api/migration-2026-10-21
 */
const served: Readonly<Record<string, readonly string[]>> = {
  'anthropic-version': ['2023-06-01', '2026-10-21'],
  'provider-version': ['2023-06-01'],
};

type Headers = Readonly<Record<string, string | undefined>>;

/** Requires at least one of the headers, and only supported versions. Throws the 400 that names the header. */
export const requireMessagesVersion = (headers: Headers): void => {
  const sent = Object.entries(served).filter(([name]) => headers[name] !== undefined);
  for (const [name, versions] of sent) {
    if (versions.includes(headers[name]?.trim() ?? '')) continue;
    throw invalidRequest(name, `${name}: must be ${versions.join(' or ')}.`);
  }
  if (sent.length > 0) return;
  const choices = Object.entries(served).map(([name, versions]) => `${name} (${versions.join(' or ')})`);
  throw invalidRequest('anthropic-version', `anthropic-version: missing. Send ${choices.join(' or ')}.`);
};
