/** Google sends no request id. */
export function googleHeaders(): Readonly<Record<string, string>> {
  return {
    server: 'scaffolding on HTTPServer2',
    'server-timing': 'gfet4t7; dur=12',
    vary: 'Origin, X-Origin, Referer',
    'x-content-type-options': 'nosniff',
  };
}
