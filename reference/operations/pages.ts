import { file } from '../answers/media.ts';
import type { Answer, Operation } from '../operation.ts';

const html: Answer = { description: 'The page.', content: { 'text/html': { schema: { type: 'string' } } } };
const pageCodes = ['not_found', 'service_unavailable'] as const;

const fileOf = (mediaTypes: readonly string[]): Answer => ({
  description: 'The file.',
  content: Object.fromEntries(mediaTypes.map((type) => [type, { schema: { type: 'string' } }])),
});

const pictures = ['image/png', 'image/jpeg', 'image/webp'];

type Name =
  | 'getMedia'
  | 'getApp'
  | 'getAppFile'
  | 'getReference'
  | 'getClientGuide'
  | 'getReferenceRoute'
  | 'getGuide'
  | 'getLlmsText'
  | 'getReferenceFile';

export const pageOperations: Record<Name, Operation> = {
  getMedia: {
    tag: 'Images',
    summary: 'Fetch an image by its link',
    description:
      'Links come from image responses. They work for 24 hours and need no API key. They cannot be guessed or listed.',
    path: {
      name: [
        'Expiry time of the link, and 128 random bits.',
        '1795086400-0f1e2d3c4b5a69788796a5b4c3d2e1f0',
        /^\d{10}-[0-9a-f]{32}$/,
      ],
    },
    answers: {
      '200': {
        description: 'The image.',
        content: Object.fromEntries(pictures.map((type) => [type, { schema: file }])),
      },
    },
    codes: ['not_found', 'expired', 'service_unavailable'],
  },
  getApp: {
    tag: 'Pages',
    summary: 'Show the mini app',
    description: 'The messenger opens this page.',
    answers: { '200': html },
    codes: pageCodes,
  },
  getAppFile: {
    tag: 'Pages',
    summary: 'Fetch a file of the mini app',
    description: 'A file that the page loads.',
    path: { file: ['Name of the file.', 'main.js'] },
    answers: { '200': fileOf(['text/javascript', 'text/css']) },
    codes: pageCodes,
  },
  getReference: {
    tag: 'Pages',
    summary: 'Show this reference',
    description: 'Shows the overview of this API reference, with links to every guide and route.',
    answers: { '200': html },
    codes: pageCodes,
  },
  getClientGuide: {
    tag: 'Pages',
    summary: 'Show the client guide',
    description: 'How to configure clients and SDKs for this gateway. Same page as `/api-reference/guides/clients`.',
    answers: { '200': html },
    codes: pageCodes,
  },
  getReferenceRoute: {
    tag: 'Pages',
    summary: 'Show a route of this reference',
    description: 'Page of one route, with its fields, responses and examples.',
    path: { name: ['Name of the route, in lower case with hyphens.', 'chat-completions'] },
    answers: { '200': html },
    codes: pageCodes,
  },
  getGuide: {
    tag: 'Pages',
    summary: 'Show a guide',
    description: 'Page of one guide. With `.md` after its name, the response is the Markdown of the guide.',
    path: { name: ['Name of the guide.', 'quick-start'] },
    answers: {
      '200': {
        description: 'The page.',
        content: {
          'text/html': { schema: { type: 'string' } },
          'text/markdown': { schema: { type: 'string' } },
        },
      },
    },
    codes: pageCodes,
  },
  getLlmsText: {
    tag: 'Pages',
    summary: 'List the guides and routes for language models',
    description: 'Markdown with a link to every guide and route. Also at `/api-reference/llms.txt`.',
    answers: { '200': { description: 'The list.', content: { 'text/plain': { schema: { type: 'string' } } } } },
    codes: pageCodes,
  },
  getReferenceFile: {
    tag: 'Pages',
    summary: 'Fetch a file of this reference',
    description: 'A file that the pages load, or this document for programs: `openapi.json`.',
    path: { file: ['Name of the file.', 'openapi.json'] },
    answers: {
      '200': {
        description: 'The file.',
        content: {
          'application/json': {
            schema: { type: 'object' },
            example: { openapi: '3.1.0', info: { title: 'Model gateway', version: '1.0.0' } },
          },
          'text/javascript': { schema: { type: 'string' } },
          'text/css': { schema: { type: 'string' } },
        },
      },
    },
    codes: pageCodes,
  },
};
