import { RecentMap } from '../core/recent-map.ts';
import type { Credential } from './credentials.ts';

/** Access to a provider with one credential. */
export interface ProviderAccess {
  readonly baseUrl: string;
  readonly key: string;
  /** Identifies the credential in a stored job. */
  readonly credentialId: string;
  /** Undefined if calls can use no other credential, so this one is always used. */
  readonly cooldown?: CredentialCooldown | undefined;
}

/** Reports what the provider said about the credential of a call. */
export interface CredentialCooldown {
  /** Cools the credential down after a 429, for this many seconds. Returns whether another credential is free. */
  limited(seconds: number): boolean;
  /** Cools the credential down after an error of ERR-3. Returns whether the provider still accepts another one. */
  refused(): boolean;
}

interface ChoiceDependencies {
  readonly now: () => number;
  readonly random: () => number;
  /** Reports an event. `credential` is the label of a credential, or the id of a missing one. */
  readonly notice: (
    name: 'credential_limited' | 'credential_refused' | 'credential_missing',
    details: { readonly provider: string; readonly credential: string },
  ) => void;
}

/** A top-up or a new key seldom comes sooner, and each try costs a client one 503. In ms. */
const REFUSED_MS = 15 * 60_000;

/** More than all credentials of all providers. Replaced credentials leave the map as the oldest. */
const COOLDOWNS_MAX = 1_000;

/** Ends of the cooldowns of one credential, in Unix milliseconds. */
interface Ends {
  readonly limitedMs: number;
  readonly refusedMs: number;
}

const none: Ends = { limitedMs: 0, refusedMs: 0 };

const endOf = ({ limitedMs, refusedMs }: Ends): number => Math.max(limitedMs, refusedMs);

/**
 * Chooses the credential of each call, and keeps the cooldowns of one process (ERR-10). They outlive a new list: a
 * credential is identified by its key.
 */
export class CredentialChoice {
  readonly #deps: ChoiceDependencies;
  readonly #cooldowns = new RecentMap<Ends>(COOLDOWNS_MAX);

  constructor(deps: ChoiceDependencies) {
    this.#deps = deps;
  }

  /**
   * Returns the credential with `wantedId`, also while it cools down. Without one, returns a credential by weight that
   * does not cool down, or the one whose cooldown ends first. Undefined for an empty list.
   */
  choose(
    provider: string,
    credentials: readonly Credential[],
    wantedId?: string,
  ): Omit<ProviderAccess, 'baseUrl'> | undefined {
    const usable = credentials.filter(({ weight }) => weight > 0);
    const wanted = credentials.find(({ id }) => id === wantedId);
    if (wantedId !== undefined && !wanted) this.#deps.notice('credential_missing', { provider, credential: wantedId });
    const chosen = wanted ?? this.#pick(provider, usable);
    if (!chosen) return undefined;
    const { key, id: credentialId } = chosen;
    const others = usable.filter(({ id }) => id !== credentialId);
    if (others.length === 0) return { key, credentialId };
    return { key, credentialId, cooldown: this.#cooldownOf(provider, chosen, others) };
  }

  #pick(provider: string, credentials: readonly Credential[]): Credential | undefined {
    if (credentials.length <= 1) return credentials[0];
    const now = this.#deps.now();
    const free = credentials.filter((each) => endOf(this.#endsOf(provider, each)) <= now);
    if (free.length > 0) return byWeight(free, this.#deps.random());
    return credentials.reduce((first, each) =>
      endOf(this.#endsOf(provider, each)) < endOf(this.#endsOf(provider, first)) ? each : first,
    );
  }

  #cooldownOf(provider: string, chosen: Credential, others: readonly Credential[]): CredentialCooldown {
    const { now, notice } = this.#deps;
    const details = { provider, credential: chosen.label };
    return {
      limited: (seconds) => {
        const ends = this.#endsOf(provider, chosen);
        const limitedMs = Math.max(ends.limitedMs, now() + seconds * 1_000);
        // Calls that were sent together report one cooldown.
        if (endOf(ends) <= now()) notice('credential_limited', details);
        this.#cooldowns.set(nameOf(provider, chosen), { ...ends, limitedMs });
        return others.some((other) => endOf(this.#endsOf(provider, other)) <= now());
      },
      refused: () => {
        const ends = this.#endsOf(provider, chosen);
        if (ends.refusedMs <= now()) notice('credential_refused', details);
        this.#cooldowns.set(nameOf(provider, chosen), { ...ends, refusedMs: now() + REFUSED_MS });
        return others.some((other) => this.#endsOf(provider, other).refusedMs <= now());
      },
    };
  }

  #endsOf(provider: string, credential: Credential): Ends {
    const { limitedMs, refusedMs } = this.#cooldowns.get(nameOf(provider, credential)) ?? none;
    const latestMs = this.#deps.now() + REFUSED_MS;
    // A later end was set before the clock was set back.
    return { limitedMs: limitedMs > latestMs ? 0 : limitedMs, refusedMs: refusedMs > latestMs ? 0 : refusedMs };
  }
}

const nameOf = (provider: string, { id }: Credential): string => `${provider}/${id}`;

/** `random` is from 0 to below 1. */
const byWeight = (credentials: readonly Credential[], random: number): Credential | undefined => {
  const total = credentials.reduce((sum, { weight }) => sum + weight, 0);
  let left = random * total;
  return credentials.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
};
