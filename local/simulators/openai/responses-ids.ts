/** Ids of one response share their middle part, by which the simulator later recognizes what belongs together. */
export type Ids = {
  readonly response: string;
  readonly reasoning: string;
  item(kind: 'msg' | 'fc' | 'ctc', index: number): string;
};

const stemLength = 32;

export function createIds(): Ids {
  const stem = crypto.randomUUID().replaceAll('-', '');
  return {
    response: `resp_${stem}${suffix(0)}`,
    reasoning: `rs_${stem}${suffix(1)}`,
    item: (kind, index) => `${kind}_${stem}${suffix(index + 2)}`,
  };
}

/** Stem of an id from `createIds`. Any other id gives a meaningless stem, or '' if it is too short. */
export function stemOf(id: string): string {
  const [, rest = ''] = id.split('_', 2);
  return rest.length > stemLength ? rest.slice(0, stemLength) : '';
}

function suffix(index: number): string {
  return index.toString(16).padStart(16, '0');
}
