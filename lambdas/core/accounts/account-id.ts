/** What people type and what stands in the database: no sign that means something in either. */
export const ACCOUNT_ID_FORM = /^[0-9A-Za-z][0-9A-Za-z._@:+-]{0,63}$/;

export const isAccountId = (text: string): boolean => ACCOUNT_ID_FORM.test(text);
