import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { bundleStores, NEXT, pathIn, storeNow } from './release.ts';

// `npm run release:fixtures` writes what the present code stores to `next/stored.json`. With a version, it writes that
// and the present stores to the folder of the version, which is kept from then on.

const [release = NEXT] = process.argv.slice(2);
if (release !== NEXT && !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(release)) {
  process.stderr.write(`${release}: not a version. Use a version of CHANGELOG.md such as 1.2.0.\n`);
  process.exit(2);
}
const { stored } = await storeNow();
mkdirSync(dirname(pathIn(release, 'stored.json')), { recursive: true });
writeFileSync(pathIn(release, 'stored.json'), `${JSON.stringify(stored, null, 2)}\n`);
if (release !== NEXT) await bundleStores(pathIn(release, 'stores.js'));
process.exit(0);
