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
  const checked = sent.length > 0 ? sent : Object.entries(served).slice(0, 1);
  for (const [name, versions] of checked) {
    if (versions.includes(headers[name]?.trim() ?? '')) continue;
    const values = versions.join(' or ');
    const problem = headers[name] === undefined ? `missing. Send ${values}.` : `must be ${values}.`;
    throw invalidRequest(name, `${name}: ${problem}`);
  }
};
