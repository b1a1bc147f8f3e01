/** In the order in which they are shown. */
export const commandNames = ['start', 'balance', 'usage', 'key', 'models', 'topup', 'help'] as const;
export type CommandName = (typeof commandNames)[number];
