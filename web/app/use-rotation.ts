import { useState } from 'preact/hooks';
import type { Api, ApiError } from './api.ts';
import type { Account, NewKey } from './api-shapes.ts';
import { problemText } from './problem.tsx';
import type { Texts } from './texts/en.ts';
import { type Loaded, toApiError } from './use-loaded.ts';

export interface Rotation {
  readonly step: 'resting' | 'asking' | 'busy';
  /** Returned by the gateway once and kept only here. */
  readonly issued: NewKey | undefined;
  readonly error: ApiError | undefined;
  ask(): void;
  cancel(): void;
  /**
   * Replaces the key only if it is still the one that was shown when the user asked, so that a newer key is not lost.
   */
  confirm(keyId: string): Promise<void>;
  forget(): void;
}

export const useRotation = (api: Api, account: Loaded<Account>): Rotation => {
  const [step, setStep] = useState<Rotation['step']>('resting');
  const [issued, setIssued] = useState<NewKey>();
  const [error, setError] = useState<ApiError>();
  return {
    step,
    issued,
    error,
    ask: () => {
      setError(undefined);
      setStep('asking');
    },
    cancel: () => setStep((now) => (now === 'asking' ? 'resting' : now)),
    confirm: async (keyId) => {
      setStep('busy');
      try {
        setIssued(await api.rotateKey(keyId));
      } catch (thrown) {
        setError(toApiError(thrown));
      }
      setStep('resting');
      account.reload();
    },
    forget: () => setIssued(undefined),
  };
};

export const rotationProblem = (error: ApiError, texts: Texts): string => {
  if (error.code === 'key_already_rotated') return texts.key.replacedMeanwhile;
  if (error.status === 401) return texts.key.openAgain;
  // Rejected before anything changed.
  if (error.status === 429 || error.status === 403) return problemText(error, texts);
  return texts.key.unsure;
};
