/** What people type and what stands in the database: no sign that means something in either. */
export const ACCOUNT_ID_FORM = /^[0-9A-Za-z][0-9A-Za-z._@:+-]{0,63}$/;

/** The same in words. */
export const ACCOUNT_ID_RULE = '1 to 64 letters, digits and . _ @ : + -, of which the first is a letter or digit';

export const isAccountId = (text: string): boolean => ACCOUNT_ID_FORM.test(text);
