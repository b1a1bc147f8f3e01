import type { Call, Fault, Plan } from '../../support/fault-proxy.ts';

export type FaultKind = Fault['kind'];

/** Fault of one request's calls with one name. */
export interface Script {
  readonly name: string;
  /** Index of the call among the calls with this name, from 0. `all` means every call. */
  readonly turn: number | 'all';
  readonly kind: FaultKind;
}

export interface PlayedScript {
  readonly plan: Plan;
  /** Names of the calls, in order. */
  readonly names: readonly string[];
  /** Scripts that were executed. */
  readonly met: ReadonlySet<Script>;
  /** Executes all calls that were held back. */
  comeLater(): void;
}

/** Returns the purpose of a call. Retries have the same name. */
export function nameOf({ operation, table, key, body }: Call): string {
  const text = JSON.stringify(body) ?? '';
  if (table === 'idempotency') return `${table} ${stepOf(operation, text)}`;
  if (table !== 'accounts') return `${table} ${operation}`;
  if (text.includes('available - :amount')) return 'accounts hold';
  if (text.includes('REMOVE holds.#id')) return 'accounts apply';
  if (!key.includes('CHARGE#') || operation !== 'PutItem') return `accounts ${operation}`;
  return `accounts record ${text.includes('"outcome":{"S":"settled"}') ? 'settled' : 'released'}`;
}

/** Returns the purpose of a write to a claim. */
function stepOf(operation: string, text: string): string {
  if (operation === 'PutItem') return 'claim';
  if (operation === 'DeleteItem' || text.includes('":free"')) return 'free';
  if (text.includes('":answer"')) return 'prepare';
  return text.includes('":done"') ? 'complete' : operation;
}

/** Plays scripts. A script applies to all calls whose name starts with its name, such as all calls to one table. */
export function playScript(scripts: readonly Script[]): PlayedScript {
  const later = Promise.withResolvers<void>();
  const names: string[] = [];
  const met = new Set<Script>();
  const faultOf = ({ kind }: Script): Fault => ({ kind, until: later.promise });
  return {
    plan: (call) => {
      const name = nameOf(call);
      const turn = names.filter((earlier) => earlier === name).length;
      names.push(name);
      const script = scripts.find((one) => name.startsWith(one.name) && (one.turn === 'all' || one.turn === turn));
      if (script) met.add(script);
      return script && faultOf(script);
    },
    names,
    met,
    comeLater: later.resolve,
  };
}
