import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from './api.ts';

/** What the gateway was asked for. While it is asked again, and when that fails, what was there before stays. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  reload(): void;
  /** In place of asking again, where an answer to something else has told. */
  replace(value: T): void;
}

type State<T> = Omit<Loaded<T>, 'reload' | 'replace'>;

/** Asks at first and whenever one of `inputs` changes. Of several answers the one to the latest question counts. */
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

/** Anything but an `ApiError` is a mistake of this page, which is told like one of the gateway. */
export const toApiError = (thrown: unknown): ApiError =>
  thrown instanceof ApiError ? thrown : new ApiError(0, 'unknown', '');
