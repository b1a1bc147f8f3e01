import cf from 'cloudfront';

// Runs for every request before CloudFront forwards it. cloudfront-js-2.0 supports ES 5.1 and some later features:
// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/functions-javascript-runtime-20.html
// The synthesis of the stack replaces literals between dollar signs.

const largeBodyOrigin = '$LARGE_BODY_ORIGIN$';
const largeBodyPaths = '$LARGE_BODY_PATHS$';
const bucketOrigin = '$BUCKET_ORIGIN$';
const mediaOrigin = '$MEDIA_ORIGIN$';
const expiredBody = '$EXPIRED_BODY$';

// Quotes and line ends take two bytes in an event, and a function accepts events of 6 MB.
const EVENT_BODY_BYTES = 3000000;

const mediaPath = /^\/media\/(\d{10})-[0-9a-f]{32}$/;
const googleAction = /^\/v1\/models\/[^/]+(?::|%3A)[a-z]+$/i;

// biome-ignore lint/correctness/noUnusedVariables: CloudFront calls it by this name.
function handler(event) {
  const request = event.request;
  // Replaces a header that the client sent. The functions read the client IP from it (LIM-7).
  request.headers['x-client-ip'] = { value: event.viewer.ip };
  if (takesKeyFromQuery(request)) moveKey(request);
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const media = reads ? mediaPath.exec(request.uri) : null;
  if (media) {
    if (Number(media[1]) * 1000 <= Date.now()) return expired(event.context.requestId, request.method);
    // If the bucket does not return the image, the function for images responds, with the gateway's own error.
    cf.createRequestOriginGroup({
      originIds: [{ originId: bucketOrigin }, { originId: mediaOrigin }],
      failoverCriteria: { statusCodes: [403, 404, 500, 502, 503, 504] },
    });
  }
  if (hasLargeBody(request)) cf.selectRequestOriginById(largeBodyOrigin);
  return request;
}

// Paths on which the query may contain a key (AUTH-3).
function takesKeyFromQuery(request) {
  return request.uri.startsWith('/v1beta/') || (request.method === 'POST' && googleAction.test(request.uri));
}

// Moves the key from the URL, which is logged, to a header. As without this, a header that was sent takes precedence.
function moveKey(request) {
  const values = [];
  Object.keys(request.querystring).forEach((name) => {
    if (decode(name) !== 'key') return;
    const sent = request.querystring[name];
    (sent.multiValue || [sent]).forEach((one) => {
      values.push(decode(one.value));
    });
    delete request.querystring[name];
  });
  const key = values.join(',').trim();
  if (key === '' || isSent(request, 'x-provider-api-key') || isSent(request, 'x-goog-api-key')) return;
  // API keys contain only these characters. Other text is encoded, because it may be invalid in a header.
  request.headers['x-provider-api-key'] = { value: /^[!-~]+$/.test(key) ? key : encodeURIComponent(key) };
}

function isSent(request, name) {
  const header = request.headers[name];
  return header !== undefined && header.value.trim() !== '';
}

function decode(text) {
  const spaced = text.replace(/\+/g, ' ');
  try {
    return decodeURIComponent(spaced);
  } catch (_) {
    return spaced;
  }
}

// A body of unknown length counts as large, and so does a compressed one, because an event can convert it to text.
function hasLargeBody(request) {
  if (largeBodyOrigin === '' || request.method !== 'POST' || !new RegExp(largeBodyPaths).test(request.uri))
    return false;
  const coding = request.headers['content-encoding'];
  if (coding && !/^\s*(?:identity\s*)?$/i.test(coding.value)) return true;
  const length = request.headers['content-length'];
  return !(length && Number(length.value) <= EVENT_BODY_BYTES);
}

function expired(requestId, method) {
  const response = {
    statusCode: 404,
    statusDescription: 'Not Found',
    headers: {
      'content-type': { value: 'application/json; charset=utf-8' },
      'access-control-allow-origin': { value: '*' },
      'access-control-expose-headers': { value: '*' },
      'x-request-id': { value: requestId },
    },
  };
  if (method === 'GET') response.body = expiredBody;
  return response;
}
