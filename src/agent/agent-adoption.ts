/**
 * For a restarted supervisor: checks whether the agent of a data directory still runs, and whether it is the
 * right one. An agent that responds with the same version is adopted; any other running one is ended, so that a
 * new one can start.
 */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { LineDecoder } from '#domain';
import {
  agentEndpoint,
  AGENT_SOCKET_MAX_ANSWER_BYTES,
  checkAgentAnswer,
  encodeAgentRequest,
  type LockHolder,
} from '#domain/agent-shapes';
import { isRunning } from '#net/files';
import { inspectAgentLock } from './agent-lock.ts';

export type Adoption =
  /** No agent runs, so start one. `replaced` is the process id of one that was ended. */
  | { readonly action: 'start'; readonly replaced?: number }
  /** The agent continues; watch it with `isRunning`. */
  | { readonly action: 'adopt'; readonly holder: LockHolder };

export interface AdoptionOptions {
  readonly version: string;
  /** Time limit for the agent's response. */
  readonly answerTimeoutMs?: number;
  /** Time limit for the agent to end after SIGTERM, then SIGKILL. */
  readonly endTimeoutMs?: number;
  /** A final check of a running agent that responds: false replaces it. */
  readonly accept?: (holder: LockHolder) => boolean;
}

export async function adoptOrReplaceAgent(dataDir: string, options: AdoptionOptions): Promise<Adoption> {
  const holder = inspectAgentLock(dataDir);
  if (holder === undefined) return { action: 'start' };
  const { version, answerTimeoutMs = 2_000, endTimeoutMs = 3_000, accept = () => true } = options;
  const wanted = holder.version === version && accept(holder);
  if (wanted && (await answers(holder, answerTimeoutMs))) return { action: 'adopt', holder };
  await endAgent(holder, endTimeoutMs);
  return { action: 'start', replaced: holder.pid };
}

/** Sends SIGTERM, then SIGKILL, but never to another process that got the same id. */
async function endAgent(holder: LockHolder, timeoutMs: number): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!isRunning(holder)) return;
    try {
      process.kill(holder.pid, signal);
    } catch {
      return;
    }
    const deadlineMs = performance.now() + timeoutMs;
    while (isRunning(holder) && performance.now() < deadlineMs) await delay(25);
  }
}

/** Whether the process at the socket is the one in the lock. */
function answers(holder: LockHolder, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const decoder = new LineDecoder(AGENT_SOCKET_MAX_ANSWER_BYTES);
    const socket = connect({ path: agentEndpoint(holder.socketPath, process.platform) });
    const finish = (right: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(right);
    };
    const timer = setTimeout(() => finish(false), timeoutMs);
    socket.on('error', () => finish(false));
    socket.on('close', () => finish(false));
    socket.on('data', (chunk: Buffer) => {
      const [line] = decoder.push(chunk);
      if (line === undefined) return;
      const answer = checkAgentAnswer('version', line);
      finish(typeof answer !== 'string' && answer.ok && answer.result.pid === holder.pid);
    });
    socket.write(encodeAgentRequest(1, { op: 'version' }));
  });
}
