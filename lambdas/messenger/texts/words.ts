type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

/** "1 request", "2 requests". */
export const createCounting = (locale: string) => {
  const rules = new Intl.PluralRules(locale);
  return (count: number, forms: Forms): string => `${count} ${forms[rules.select(count)] ?? forms.other}`;
};

/** In UTC, as every day of the service. */
export const createDates = (locale: string) => {
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
  const time = new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: 'UTC',
  });
  return { day: (atMs: number) => day.format(atMs), time: (atMs: number) => time.format(atMs) };
};

/** In the order in which they are shown. */
export const commandNames = ['start', 'balance', 'usage', 'key', 'models', 'topup', 'help'] as const;

export type CommandName = (typeof commandNames)[number];
