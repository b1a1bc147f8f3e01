export const chatLanguages = ['en', 'ru'] as const;
export type ChatLanguage = (typeof chatLanguages)[number];
