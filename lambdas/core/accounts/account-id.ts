/** What people type and what stands in the database: no sign that means something in either. */
const form = /^[0-9A-Za-z][0-9A-Za-z._@:+-]{0,63}$/;

export const isAccountId = (text: string): boolean => form.test(text);
