import { file } from '../answers/media.ts';
import type { Answer, Operation } from '../operation.ts';

const html: Answer = { description: 'The page.', content: { 'text/html': { schema: { type: 'string' } } } };
const pageCodes = ['not_found', 'service_unavailable'] as const;

const fileOf = (mediaTypes: readonly string[]): Answer => ({
  description: 'The file.',
  content: Object.fromEntries(mediaTypes.map((type) => [type, { schema: { type: 'string' } }])),
});

const pictures = ['image/png', 'image/jpeg', 'image/webp'];

type Name = 'getMedia' | 'getApp' | 'getAppFile' | 'getReference' | 'getClientGuide' | 'getReferenceFile';

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
    description: 'Shows this API reference, where you can also try requests.',
    answers: { '200': html },
    codes: pageCodes,
  },
  getClientGuide: {
    tag: 'Pages',
    summary: 'Show the client guide',
    description: 'How to configure clients and SDKs for this gateway. Works without JavaScript.',
    answers: { '200': html },
    codes: pageCodes,
  },
  getReferenceFile: {
    tag: 'Pages',
    summary: 'Fetch a file of this reference',
    description: 'A file that the page loads, or this document for programs: `openapi.json`.',
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
