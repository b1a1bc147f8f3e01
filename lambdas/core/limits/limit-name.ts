/** What may turn a request away with 429 and be the gateway's own doing (LIM-1, LIM-2, LIM-8, BILL-8). */
export const limitNames = ['address', 'key', 'chat', 'holds', 'drains'] as const;
export type LimitName = (typeof limitNames)[number];
