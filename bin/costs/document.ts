/** Between a line `<!-- costs: name -->` and the next `<!-- /costs -->` stands the table of that name. */
const place = /<!-- costs: ([\w-]+) -->\n[\s\S]*?<!-- \/costs -->/g;

/** Throws an Error for a place without a table, and for a table without its place. */
export const withTables = (document: string, tables: Readonly<Record<string, string>>): string => {
  const placed = new Set<string>();
  const filled = document.replace(place, (_whole, name: string) => {
    const table = tables[name];
    if (table === undefined) throw new Error(`there is no table "${name}"`);
    placed.add(name);
    return `<!-- costs: ${name} -->\n${table}\n<!-- /costs -->`;
  });
  const homeless = Object.keys(tables).filter((name) => !placed.has(name));
  if (homeless.length > 0) throw new Error(`the document has no place for ${homeless.join(', ')}`);
  return filled;
};
