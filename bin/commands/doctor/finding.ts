import { whyOf } from '../../exit.ts';

export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failure';
  readonly detail: string;
  /** How to fix the problem; null for `ok`. */
  readonly advice: string | null;
}

export const ok = (check: string, detail: string): Finding => ({ check, status: 'ok', detail, advice: null });

export const warning = (check: string, detail: string, advice: string): Finding => ({
  check,
  status: 'warning',
  detail,
  advice,
});

export const failure = (check: string, detail: string, advice: string): Finding => ({
  check,
  status: 'failure',
  detail,
  advice,
});

/** Runs one check. Reports a thrown error as a failure, so that the other checks still run. */
export const tried = async (check: string, advice: string, look: () => Promise<Finding>): Promise<Finding> => {
  try {
    return await look();
  } catch (error) {
    return failure(check, whyOf(error), advice);
  }
};
