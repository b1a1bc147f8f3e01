/**
 * A mistake of ours, which no repeat mends: the service said so itself, by one of these names, or the call could not even be put
 * together. Nothing was written, and it must not look like an outage.
 */
export const isMistake = (error: unknown, names: ReadonlySet<string>): boolean => {
  if (!(error instanceof Error)) return false;
  if (names.has(error.name)) return true;
  // An error without a trace of a reply or a connection was thrown before anything had gone out.
  const fromOutside = '$metadata' in error || '$response' in error || 'code' in error;
  return !fromOutside && (error instanceof TypeError || error instanceof RangeError);
};
