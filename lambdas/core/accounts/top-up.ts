/** How an account is topped up: a link, or a text of the operator. */
export type TopUp = { readonly url: string } | { readonly text: string };

/** Returns `TOP_UP_TEXT` for an account. Undefined if the operator has not set it. */
export const topUpOf = (topUpText: string | undefined, accountId: string): TopUp | undefined => {
  if (topUpText === undefined) return undefined;
  const url = topUpText.trim().replaceAll('{account}', encodeURIComponent(accountId));
  if (/^https?:\/\/\S+$/.test(url) && URL.canParse(url)) return { url };
  return { text: topUpText.replaceAll('{account}', accountId) };
};
