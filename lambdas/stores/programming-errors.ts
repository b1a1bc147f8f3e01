/**
 * Whether an error is a bug of the gateway that a repeat cannot fix: the service reports one of these names, or the SDK
 * could not build the call. Such a call wrote nothing and must not look like an outage.
 */
export const isProgrammingError = (error: unknown, names: ReadonlySet<string>): boolean => {
  if (!(error instanceof Error)) return false;
  if (names.has(error.name)) return true;
  // An error without metadata of a response or a connection was thrown before anything was sent.
  const fromOutside = '$metadata' in error || '$response' in error || 'code' in error;
  return !fromOutside && (error instanceof TypeError || error instanceof RangeError);
};
