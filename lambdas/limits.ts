const MIB_BYTES = 1024 * 1024;

/** Longest body a client may send, in bytes (GEN-1). */
export const BODY_BYTES_MAX = 20 * MIB_BYTES;

/** The limit as messages state it, such as "20971520 bytes (20 MiB)". */
export const BODY_LIMIT_TEXT = `${BODY_BYTES_MAX} bytes (${BODY_BYTES_MAX / MIB_BYTES} MiB)`;

/**
 * Number of the longest bodies that one process can hold at a time. Parsed and forwarded, eight use less than 1 GiB
 * (measured).
 */
export const BODIES_AT_ONCE = 8;

/** Default memory for request bodies in one process, in bytes (GEN-14). */
export const BODY_BUDGET_BYTES_DEFAULT = BODIES_AT_ONCE * BODY_BYTES_MAX;

/** Number of objects, arrays and member names in one body (GEN-2), and in one argument or result of a tool (CHAT-5). */
export const BODY_PARTS_MAX = 100_000;
/** Memory of an object, an array or a member name after parsing, in bytes (measured). */
export const BODY_PART_BYTES = 64;
/** Memory of an item or a member after parsing, apart from its name and its parts, in bytes (measured). */
export const BODY_ITEM_BYTES = 24;
/** Number of JSON values in all arguments and results of tools together (CHAT-5). */
export const TOOL_VALUES_MAX = 1_000_000;
