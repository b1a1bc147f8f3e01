/** Levels of reasoning, lowest first. A file without the schema of the catalog, which functions do not load. */
export const effortLevels = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
