import type { ApiError } from './api.ts';
import { useLanguage } from './language.ts';
import type { Texts } from './texts/en.ts';

interface ProblemProps {
  readonly error: ApiError;
  readonly retry?: () => void;
}

export const Problem = ({ error, retry }: ProblemProps) => {
  const { texts } = useLanguage();
  const isLasting = error.status === 401 || error.status === 403 || error.status === 404;
  return (
    <div class="problem" role="alert">
      <p>{problemText(error, texts)}</p>
      {retry && !isLasting && (
        <button type="button" onClick={retry}>
          {texts.retry}
        </button>
      )}
    </div>
  );
};

export const problemText = ({ status, code }: ApiError, { problems }: Texts): string => {
  if (status === 401) return problems.openAgain;
  if (status === 404) return problems.noAccount;
  if (code === 'account_blocked') return problems.blocked;
  if (status === 429) return problems.tooMany;
  if (status === 503) return problems.unavailable;
  return code === 'unreachable' ? problems.unreachable : problems.other;
};
