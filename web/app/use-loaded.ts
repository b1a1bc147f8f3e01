import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from './api.ts';

/** Data from the gateway. During a reload, and after a failed one, the previous data stays. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  reload(): void;
  /** Replaces the data without a reload, when another response contains it. */
  replace(value: T): void;
}

type State<T> = Omit<Loaded<T>, 'reload' | 'replace'>;

/** Loads at first and whenever one of `inputs` changes. The response to the latest request counts. */
export const useLoaded = <T>(load: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> => {
  const [state, setState] = useState<State<T>>({ value: undefined, error: undefined, isLoading: true });
  const latest = useRef(0);
  const begin = (): void => {
    latest.current += 1;
    const mine = latest.current;
    const isLatest = (): boolean => latest.current === mine;
    setState(({ value }) => ({ value, error: undefined, isLoading: true }));
    load().then(
      (value) => isLatest() && setState({ value, error: undefined, isLoading: false }),
      (thrown: unknown) =>
        isLatest() && setState(({ value }) => ({ value, error: toApiError(thrown), isLoading: false })),
    );
  };
  const current = useRef(begin);
  current.current = begin;
  useEffect(() => current.current(), [...inputs]);
  const reload = useCallback(() => current.current(), []);
  const replace = useCallback((value: T) => {
    latest.current += 1;
    setState({ value, error: undefined, isLoading: false });
  }, []);
  return { ...state, reload, replace };
};

/** Any other error is a bug of this page, and is shown like an error of the gateway. */
export const toApiError = (thrown: unknown): ApiError =>
  thrown instanceof ApiError ? thrown : new ApiError(0, 'unknown', '');
