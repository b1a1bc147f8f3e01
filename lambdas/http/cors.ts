/** GEN-13: any origin, no credentials. */
export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': '*',
} as const;

export const preflightHeaders = {
  ...corsHeaders,
  'access-control-allow-methods': 'GET, HEAD, POST, DELETE, OPTIONS',
  'access-control-allow-headers': 'authorization, content-type, *',
  'access-control-max-age': '86400',
} as const;
