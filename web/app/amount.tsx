import { useLanguage } from './language.ts';
import { writeUsd } from './usd.ts';

/** The whole amount, nothing rounded; what comes after the cents is shown smaller. */
export const Amount = ({ usd }: { readonly usd: string }) => {
  const { language } = useLanguage();
  const { before, main, rest, after } = writeUsd(usd, { language, withCents: true });
  return (
    <span class="amount">
      {before}
      {main}
      {rest && <span class="amount-rest">{rest}</span>}
      {after}
    </span>
  );
};
