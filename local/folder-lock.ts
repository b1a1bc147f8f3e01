import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { isRunning, processIdentity } from './process-identity.ts';

const holderSchema = z.object({ pid: z.int().positive(), identity: z.string(), token: z.string() });

/** Pid of the process that has locked the folder. Undefined if none has, or if it has ended. */
export function lockHolder(folder: string): number | undefined {
  return liveHolder(readText(join(folder, 'lock')) ?? '');
}

/** Locks the folder for this process and returns the unlock. Takes over the lock of a process that has ended. */
export function lockFolder(folder: string): () => void {
  const path = join(folder, 'lock');
  const mine = JSON.stringify({ pid: process.pid, identity: processIdentity(process.pid), token: randomUUID() });
  for (let attempt = 0; attempt < 20; attempt += 1) {
    if (tryCreate(path, mine)) return () => unlock(path, mine);
    const found = readText(path);
    if (found === undefined) continue;
    const holder = liveHolder(found);
    if (holder !== undefined) throw new Error(`${folder} is in use by process ${holder}. Stop it first.`);
    removeStale(path, found);
  }
  throw new Error(`${path} is locked and unlocked too fast. Try again.`);
}

/** A link appears with its whole content or fails, so no process reads half a lock. */
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

/**
 * Returns the pid of the process that holds a lock and still runs. Includes this process, because a program must not
 * open a folder twice.
 */
function liveHolder(content: string): number | undefined {
  const holder = holderSchema.safeParse(parseJson(content));
  if (!holder.success) return undefined;
  return isRunning(holder.data.identity) ? holder.data.pid : undefined;
}

/**
 * Two processes may find the same stale lock. The slower one then moves the new lock of the faster one, and restores
 * it.
 */
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
