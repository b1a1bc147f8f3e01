import cf from 'cloudfront';

// What runs before CloudFront looks for an answer, on cloudfront-js-2.0, which knows ES 5.1 and parts of what came later:
// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/functions-javascript-runtime-20.html
// Texts between dollar signs are replaced when the stack is synthesized.

const largeBodyOrigin = '$LARGE_BODY_ORIGIN$';
const largeBodyPaths = '$LARGE_BODY_PATHS$';
const bucketOrigin = '$BUCKET_ORIGIN$';
const mediaOrigin = '$MEDIA_ORIGIN$';
const expiredBody = '$EXPIRED_BODY$';

// Quotes and line ends double inside an event, of which a function takes 6 MB.
const EVENT_BODY_BYTES = 3000000;

const mediaPath = /^\/media\/(\d{10})-[0-9a-f]{32}$/;
const googleAction = /^\/v1\/models\/[^/]+(?::|%3A)[a-z]+$/i;

// biome-ignore lint/correctness/noUnusedVariables: CloudFront calls it by this name.
function handler(event) {
  const request = event.request;
  if (takesKeyFromQuery(request)) moveKey(request);
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const media = reads ? mediaPath.exec(request.uri) : null;
  if (media) {
    if (Number(media[1]) * 1000 <= Date.now()) return expired(event.context.requestId, request.method);
    // What the bucket does not have or does not answer, the function answers for, in the gateway's own words.
    cf.createRequestOriginGroup({
      originIds: [{ originId: bucketOrigin }, { originId: mediaOrigin }],
      failoverCriteria: { statusCodes: [403, 404, 500, 502, 503, 504] },
    });
  }
  if (hasLargeBody(request)) cf.selectRequestOriginById(largeBodyOrigin);
  return request;
}

// AUTH-3: on these paths and on no other.
function takesKeyFromQuery(request) {
  return request.uri.startsWith('/v1beta/') || (request.method === 'POST' && googleAction.test(request.uri));
}

// The key leaves the address, which is what gets written down; a header that was sent as well wins, as it would without this.
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
  // No key of ours has another character; as it is, it might be no header at all.
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

// A body of unknown length may be any.
function hasLargeBody(request) {
  if (largeBodyOrigin === '' || request.method !== 'POST' || !new RegExp(largeBodyPaths).test(request.uri))
    return false;
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
