import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { processIdentity } from './process-identity.ts';

const holderSchema = z.object({ pid: z.int().positive(), identity: z.string(), token: z.string() });

/** Takes the folder for this process and returns what gives it back. A lock whose holder is gone is taken over. */
export function lockFolder(folder: string): () => void {
  const path = join(folder, 'lock');
  const mine = JSON.stringify({ pid: process.pid, identity: processIdentity(process.pid), token: randomUUID() });
  for (let attempt = 0; attempt < 20; attempt += 1) {
    if (tryCreate(path, mine)) return () => unlock(path, mine);
    const found = readText(path);
    if (found === undefined) continue;
    const holder = liveHolder(found);
    if (holder !== undefined) throw new Error(`${folder} is in use by process ${holder}; stop that one first.`);
    removeStale(path, found);
  }
  throw new Error(`${path} changes hands too fast to be taken; try again.`);
}

/** A link either appears with its whole content or fails: nobody ever reads half a lock. */
function tryCreate(path: string, content: string): boolean {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, content, { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Our own process counts as well: one program must not open one folder twice. */
function liveHolder(content: string): number | undefined {
  const holder = holderSchema.safeParse(parseJson(content));
  if (!holder.success) return undefined;
  return processIdentity(holder.data.pid) === holder.data.identity ? holder.data.pid : undefined;
}

/** Two starters may find the same stale lock. The slower one would move away the faster one's new lock: it puts it back. */
function removeStale(path: string, stale: string): void {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  const moved = readText(aside);
  if (moved !== undefined && moved !== stale) tryCreate(path, moved);
  rmSync(aside, { force: true });
}

function unlock(path: string, mine: string): void {
  if (readText(path) === mine) rmSync(path, { force: true });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
