import type { StartPorts, UpdateLog } from '../core/accounts/chats.ts';
import type { Catalog } from '../core/catalog/catalog.ts';
import type { LedgerStore } from '../core/ledger/ledger.ts';
import type { LedgerRecords } from '../core/ledger/records.ts';
import type { NoticeName } from '../core/notices.ts';
import type { BotAccess } from './messenger-api.ts';

export interface BotPorts extends StartPorts {
  /** Undefined where there is no bot. */
  readonly access: BotAccess | undefined;
  readonly updates: UpdateLog;
  readonly ledgerStore: Pick<LedgerStore, 'readAccount'>;
  readonly ledgerRecords: LedgerRecords;
  readonly catalog: Catalog;
  /** The gateway's own address; without one nobody is told it, and there is no app. */
  readonly publicUrl: string | undefined;
  /** What is said of topping up, or the link for it. */
  readonly topUpText: string | undefined;
  readonly notice: (name: NoticeName, details: Readonly<Record<string, string>>) => void;
}

/** Where the mini app is. The messenger opens none without TLS; the one of a single machine does. */
export const appUrlOf = ({ publicUrl, access }: Pick<BotPorts, 'publicUrl' | 'access'>): string | undefined => {
  if (publicUrl === undefined) return undefined;
  const { origin, protocol } = new URL(publicUrl);
  const isLocal = access !== undefined && new URL(access.apiUrl).protocol === 'http:';
  return protocol === 'https:' || isLocal ? `${origin}/app` : undefined;
};
