/** A JSON schema, or a part of the document: nothing here reads it but by name. */
export type JsonSchema = { readonly [name: string]: unknown };
