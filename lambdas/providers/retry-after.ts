/** ERR-2: the vendor's own seconds, clipped to 1..300; without any, 5 to 30 at random, so that clients do not return together. */
export const retryAfterSeconds = (
  header: string | string[] | undefined,
  nowMs: number,
  random: () => number,
): number => {
  const text = Array.isArray(header) ? header[0] : header;
  const seconds = text === undefined ? Number.NaN : secondsOf(text, nowMs);
  if (Number.isNaN(seconds)) return 5 + Math.floor(random() * 26);
  return Math.min(300, Math.max(1, Math.ceil(seconds)));
};

const secondsOf = (text: string, nowMs: number): number =>
  /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : (Date.parse(text) - nowMs) / 1_000;
