import { invalidRequest } from '../../core/errors/gateway-error.ts';

type Query = Readonly<Record<string, string | undefined>>;

export interface ListQuery {
  readonly limit: number;
  readonly newestFirst: boolean;
  readonly afterId: string | undefined;
}

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;

/** VID-8. Throws the 400 that names the parameter. An empty one is as good as none, and others are not looked at. */
export const readListQuery = (query: Query): ListQuery => ({
  limit: readLimit(query),
  newestFirst: readOrder(query) === 'desc',
  afterId: query.after || undefined,
});

const readLimit = ({ limit }: Query): number => {
  if (!limit) return LIMIT_DEFAULT;
  const count = /^\d{1,3}$/.test(limit) ? Number(limit) : 0;
  if (count >= 1 && count <= LIMIT_MAX) return count;
  throw invalidRequest('limit', `limit: must be a whole number from 1 to ${LIMIT_MAX}.`);
};

const readOrder = ({ order }: Query): 'asc' | 'desc' => {
  if (!order || order === 'desc') return 'desc';
  if (order === 'asc') return 'asc';
  throw invalidRequest('order', 'order: must be one of asc, desc.');
};
