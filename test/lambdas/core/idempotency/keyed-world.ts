import { expect } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { answerOnce } from '../../../../lambdas/core/idempotency/claim.ts';
import type { IdempotencyDependencies, IdempotentRequest } from '../../../../lambdas/core/idempotency/claim-store.ts';
import { balanceOf, heldOf } from '../../../../lambdas/core/ledger/ledger.ts';
import type { TextOptions } from '../../../../lambdas/core/text/generate-text.ts';
import { generateText } from '../../../../lambdas/core/text/generate-text.ts';
import { idempotencyOf } from '../../../support/memory/memory-idempotency.ts';
import { sweep } from '../../../support/strict-tending.ts';
import { ACCOUNT, createWorld, GRACE_MS, requestOf, type WorldOptions } from '../text/text-world.ts';

/** Result that one client gets. */
export interface Got {
  readonly status: number;
  readonly body: string;
  readonly replayed: boolean;
}

/**
 * Runs the real use case under an idempotency key on in-memory stores. Each request has its own id, as in different
 * processes.
 */
export const keyedWorld = async (
  options: WorldOptions = {},
  change: (deps: IdempotencyDependencies) => IdempotencyDependencies = (deps) => deps,
) => {
  const world = await createWorld(options);
  const own = idempotencyOf(world.deps.ledger);
  const deps = change(own);
  const send = async (requestId: string, request: Partial<IdempotentRequest> = {}): Promise<Got> => {
    const idempotent = { accountId: ACCOUNT, keyHash: 'key-1', requestId, fingerprint: 'one', renderError, ...request };
    try {
      const answered = await answerOnce(deps, idempotent, async (claimed) => {
        const toStored: NonNullable<TextOptions['idempotent']>['toStored'] = (_outcome, body, costPicos) => ({
          status: 200,
          headers: { 'x-cost': String(costPicos) },
          body,
        });
        const generated = await generateText(
          world.deps,
          { accountId: ACCOUNT, requestId, hostEndsAtMs: undefined },
          {
            protocol: 'chat_completions',
            modelId: 'alpha-1',
            endUser: undefined,
            params: { prompt: 'messages', cap: 'max_tokens' },
            validateFor: () => requestOf({ outputTokensMax: 100 }),
          },
          { render: () => `answer of ${requestId}`, dryRun: false, idempotent: { claimed, toStored } },
        );
        if (generated.kind !== 'answer') throw new Error('expected a plain answer');
        return { status: 200, body: generated.body, replayed: false };
      });
      if (answered.kind === 'fresh') return answered.value;
      const { status, body } = answered.answer;
      return { status, body, replayed: true };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { status: error.status, body: error.code, replayed: false };
    }
  };
  /** Expects `count` charges, no open hold and correct sums. */
  const expectCharges = async (count: number): Promise<void> => {
    await world.clock.advance(2_000_000 + GRACE_MS);
    await sweep({ ...world.deps.ledger, store: world.memory });
    const account = await world.account();
    const settled = world.records().filter(({ outcome }) => outcome === 'settled');
    expect([settled.length, account.holds.size, heldOf(account)]).toEqual([count, 0, 0n]);
    expect(account.availablePicos).toBe(balanceOf(account));
    expect(account.spentPicos).toBe(settled.reduce((sum, { amountPicos }) => sum + amountPicos, 0n));
  };
  return {
    ...world,
    ...own,
    send,
    expectCharges,
    claim: () => own.claims.claimOf({ accountId: ACCOUNT, keyHash: 'key-1' }),
  };
};

const renderError = ({ status, code }: GatewayError) => ({ status, headers: {}, body: `error ${code}` });
