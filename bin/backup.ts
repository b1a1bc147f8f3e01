import { backUp } from '../local/backup.ts';

const [target, ...rest] = process.argv.slice(2);
if (target === undefined || rest.length > 0) {
  process.stderr.write('Usage: npm run backup -- <new folder>\n');
  process.exit(2);
}
try {
  await backUp(process.env.DATA_DIR || '.local', target);
  process.stdout.write(`Copied to ${target}. The copy holds secrets: keep it private.\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
