// Adds to an image from the bucket the headers that the function for images also sends (IMG-6). Runs on
// cloudfront-js-2.0.

const mediaPath = /^\/media\/(\d{10})-/;

// biome-ignore lint/correctness/noUnusedVariables: CloudFront calls it by this name.
function handler(event) {
  const response = event.response;
  const headers = response.headers;
  // A response from a function already has all headers.
  if (headers['x-request-id']) return response;
  const media = mediaPath.exec(event.request.uri);
  const leftSeconds = media ? Math.max(0, Number(media[1]) - Math.ceil(Date.now() / 1000)) : 0;
  headers['access-control-allow-origin'] = { value: '*' };
  headers['access-control-expose-headers'] = { value: '*' };
  headers['cache-control'] = { value: `private, max-age=${leftSeconds}, immutable` };
  headers['content-disposition'] = { value: 'inline' };
  headers['content-security-policy'] = { value: "default-src 'none'; sandbox" };
  headers['x-content-type-options'] = { value: 'nosniff' };
  headers['x-request-id'] = { value: event.context.requestId };
  return response;
}
