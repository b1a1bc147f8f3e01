/** JSON schema, or a part of the document. Its members are read by name only. */
export type JsonSchema = { readonly [name: string]: unknown };
