import type { TextPorts } from '../../core/text/text-ports.ts';
import { createHandler } from '../../http/handler.ts';
import { createChatCompletions } from '../../protocols/chat-completions/handler.ts';
import { createChatWire } from '../../providers/openai/chat-wire.ts';
import { toHttpPorts } from './http-ports.ts';
import { toLedgerPorts } from './ledger-ports.ts';
import type { Parts, VendorAccess } from './parts.ts';

export const createTextHandler = (parts: Parts) =>
  createHandler(toHttpPorts(parts), {
    chatCompletions: createChatCompletions({ text: toTextPorts(parts), finished: parts.reporting.finished }),
  });

const toTextPorts = (parts: Parts): TextPorts => ({
  catalog: parts.catalog,
  wires: new Map([
    [
      'openai_chat',
      createChatWire({
        http: parts.upstreamHttp,
        access: (providerId) => accessOf(parts, providerId),
        notice: (notice, provider) => parts.reporting.notice(notice, { provider }),
        now: () => parts.clock.now(),
        random: parts.random,
      }),
    ],
  ]),
  reachable: ({ id }) => parts.vendorAccess(id) !== undefined,
  ledger: toLedgerPorts(parts),
  notice: (notice, requestId) => parts.reporting.notice(notice, { requestId }),
  holdGraceMs: parts.settings.HOLD_GRACE_SECONDS * 1_000,
  upstreamDeadlineMs: parts.settings.UPSTREAM_DEADLINE_SECONDS * 1_000,
});

const accessOf = ({ vendorAccess }: Parts, providerId: string): VendorAccess => {
  const access = vendorAccess(providerId);
  if (!access) throw new Error(`the provider ${providerId} has no key`);
  return access;
};
