const error = (code: string, message: string) => ({ error: { code, message } });

/** Small OpenAPI description with every part that the pages show. */
export const smallDescription = {
  info: {
    title: 'Small API',
    description: 'An API.\n\n## Codes\n\n| status | code |\n|---|---|\n| 404 | `not_found` |\n',
  },
  tags: [{ name: 'Bots', description: 'For bots.' }, { name: 'Chat', description: 'Text & more.' }, { name: 'Rest' }],
  'x-tagGroups': [
    { name: 'API', tags: ['Chat'] },
    { name: 'Operator and bot', tags: ['Bots'] },
  ],
  paths: {
    '/v1/talks/{id}': {
      post: {
        operationId: 'createTalk',
        tags: ['Chat'],
        summary: 'Create a talk',
        description: 'Uses `model`. <b>',
        security: [{ apiKey: [] }],
        parameters: [
          { in: 'path', name: 'id', required: true, schema: { type: 'string' }, example: 'talk-1' },
          { in: 'header', name: 'X-Dry', description: 'A **dry** run.', schema: { type: 'string', enum: ['true'] } },
        ],
        requestBody: {
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/Talk' },
              examples: { plain: { summary: 'Plain', value: { model: 'm' } }, other: { value: { model: 'n' } } },
            },
          },
        },
        responses: {
          '200': {
            description: 'The talk.',
            headers: { 'x-cost': { $ref: '#/components/headers/x-cost' } },
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/Talk' }, example: { model: 'answered' } },
              'text/event-stream': { schema: { type: 'string' }, example: 'data: [DONE]\n\n' },
            },
          },
          '404': { $ref: '#/components/responses/missing' },
        },
        'x-codeSamples': [
          { lang: 'shell', label: 'curl', source: "curl '/v1/talks/1'" },
          { lang: 'python', label: 'Python', source: 'import requests' },
          { lang: 'shell', label: 'curl, stream', source: 'curl -N' },
        ],
      },
    },
    '/bot': {
      post: {
        operationId: 'takeUpdate',
        tags: ['Bots'],
        summary: 'Take an update',
        security: [{ botSecret: [] }],
        responses: { '200': { description: 'Taken.' } },
      },
    },
    '/rest': { get: { operationId: 'rest', tags: ['Rest'], summary: 'Rest', responses: {} } },
  },
  components: {
    schemas: {
      Talk: {
        type: 'object',
        required: ['model'],
        properties: {
          model: { type: 'string', description: 'Id of a **model**.', maxLength: 20 },
          next: { anyOf: [{ $ref: '#/components/schemas/Talk' }, { type: 'null' }] },
          parts: {
            type: 'array',
            minItems: 1,
            items: {
              oneOf: [
                { type: 'object', properties: { type: { const: 'text' }, text: { type: 'string' } } },
                { type: 'object', properties: { type: { const: 'image' }, url: { type: 'string' } } },
              ],
            },
          },
          tags: { type: 'object', additionalProperties: { type: 'object', properties: { label: { type: 'string' } } } },
          size: { type: ['integer', 'null'], enum: [1, 2, null], default: 1 },
        },
      },
    },
    responses: {
      missing: {
        description: '`not_found` when it is missing.',
        content: { 'application/json': { examples: { not_found: { $ref: '#/components/examples/plain.not_found' } } } },
      },
    },
    headers: { 'x-cost': { description: 'Cost in USD.' } },
    examples: { 'plain.not_found': { summary: 'missing', value: error('not_found', 'There is no such talk.') } },
    securitySchemes: {
      apiKey: { type: 'http', description: 'API key.' },
      botSecret: { type: 'apiKey', description: 'Secret of the bot.' },
    },
  },
};

export const smallJson = JSON.stringify(smallDescription);
