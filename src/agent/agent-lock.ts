/**
 * Ensures one agent per data directory: `agent.lock` names its process and its socket. A lock whose process no
 * longer runs (or whose id belongs to another process) is taken over; a running agent's lock never is.
 */
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FrontdoorError } from '#base';
import { agentLockShape, type LockHolder } from '#domain/agent-shapes';
import { isRunning, processStart } from '#net/files';

export const AGENT_LOCK_FILE = 'agent.lock';

export interface AgentLock {
  /** Returns false if another process took the lock, so that the owner must stop. */
  isHeld(): boolean;
  release(): void;
}

const ATTEMPTS = 20;

/** Throws `conflict` if an agent runs on this directory. */
export function acquireAgentLock(dataDir: string, socketPath: string, version: string): AgentLock {
  const path = join(dataDir, AGENT_LOCK_FILE);
  const start = processStart(process.pid);
  if (start === undefined)
    throw new FrontdoorError('internal', 'no-start-time', 'cannot read the start time of this process');
  const own = agentLockShape.numbered({ pid: process.pid, start, socketPath, version });
  const text = `${JSON.stringify(own)}\n`;
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      // A link is created atomically, and never replaces another file.
      if (tryLink(draft, path)) return lockOf(path, text);
      const holder = inspectAgentLock(dataDir);
      if (holder !== undefined) throw alreadyRunning(dataDir, holder);
      if (takeOver(path, draft, dataDir)) return lockOf(path, text);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  throw new FrontdoorError(
    'conflict',
    'lock-busy',
    `${path} keeps changing; other agents are starting on ${dataDir}`,
  );
}

/** Returns the running agent of this directory, if there is one. */
export function inspectAgentLock(dataDir: string): LockHolder | undefined {
  const holder = readHolder(join(dataDir, AGENT_LOCK_FILE));
  return holder !== undefined && isRunning(holder) ? holder : undefined;
}

function alreadyRunning(dataDir: string, holder: LockHolder): FrontdoorError {
  return new FrontdoorError(
    'conflict',
    'agent-running',
    `an agent already runs on ${dataDir} (process ${holder.pid}, socket ${holder.socketPath}); ` +
      'stop it first, or give this one its own --data-dir',
  );
}

/**
 * Replaces a stale lock. A second file prevents two processes from doing so at once. Returns false if the caller
 * must start over.
 */
function takeOver(path: string, draft: string, dataDir: string): boolean {
  const guard = `${path}.takeover`;
  if (!tryLink(draft, guard)) {
    const other = readHolder(guard);
    if (other === undefined || !isRunning(other)) rmSync(guard, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    return false;
  }
  try {
    if (inspectAgentLock(dataDir) !== undefined) return false;
    renameSync(draft, path);
    return true;
  } finally {
    rmSync(guard, { force: true });
  }
}

function lockOf(path: string, text: string): AgentLock {
  const isHeld = (): boolean => {
    try {
      return statSync(path).size === text.length && readFileSync(path, 'utf8') === text;
    } catch {
      return false;
    }
  };
  return {
    isHeld,
    release: () => {
      if (isHeld()) rmSync(path, { force: true });
    },
  };
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Undefined when there is none or it is not one of Frontdoor. Throws `conflict` for one of a newer format. */
function readHolder(path: string): LockHolder | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  const read = agentLockShape.readText(text);
  if ('value' in read) return read.value;
  if (read.isNewer) throw new FrontdoorError('conflict', 'lock-of-newer-format', `${path}: ${read.problem}`);
  return undefined;
}
