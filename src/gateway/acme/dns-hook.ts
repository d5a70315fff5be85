/**
 * Runs the operator's program that creates and removes TXT records: `PROGRAM present|cleanup FQDN VALUE`, without a
 * shell, in a process group of its own, which is killed when it takes too long. Its output is for the error's text.
 */
import { spawn } from 'node:child_process';
import process from 'node:process';
import { FrontdoorError } from '#base';
import type { ChallengeRecord, DnsProvider } from './dns/dns-provider.ts';

const TIMEOUT_MS = 120_000;
/** How much of the end of its output is kept. */
const KEPT_CHARS = 400;

export interface DnsHookCall {
  /** Absolute path. */
  readonly program: string;
  readonly action: 'present' | 'cleanup';
  /** With a dot at its end. */
  readonly fqdn: string;
  readonly value: string;
  /** Ends the program. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The program as a provider. It gets the original name, and finds the zone by itself. */
export class DnsHook implements DnsProvider {
  readonly #program: string;
  readonly delegations = undefined;

  /** Takes an absolute path. */
  constructor(program: string) {
    this.#program = program;
  }

  add(record: ChallengeRecord, signal: AbortSignal): Promise<void> {
    return this.#call('present', record, signal);
  }

  remove(record: ChallengeRecord, signal: AbortSignal): Promise<void> {
    return this.#call('cleanup', record, signal);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #call(action: DnsHookCall['action'], { name, value }: ChallengeRecord, signal: AbortSignal): Promise<void> {
    return callDnsHook({ program: this.#program, action, fqdn: `${name}.`, value, signal });
  }
}

/** Resolves when the program has ended with status 0. Rejects with `dns-hook-failed`. */
export async function callDnsHook(call: DnsHookCall): Promise<void> {
  const { program, action, fqdn, value, signal, timeoutMs = TIMEOUT_MS } = call;
  const { promise, resolve } = Promise.withResolvers<string>();
  let output = '';
  const child = spawn(program, [action, fqdn, value], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const kill = (why: string): void => {
    if (child.pid !== undefined && child.exitCode === null) killGroup(child.pid);
    resolve(why);
  };
  const keep = (text: string): void => {
    output = (output + text).slice(-KEPT_CHARS);
  };
  const onAbort = (): void => kill('the gateway stops');
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  child.once('error', (error) => resolve(error.message));
  // Programs that it left behind may keep the pipes open, so its own end counts.
  child.once('exit', (status, ended) => {
    resolve(status === 0 ? '' : `it ended with ${ended ?? `status ${status}`}`);
  });
  const timer = setTimeout(() => kill(`it did not end within ${timeoutMs / 1_000} s`), timeoutMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  const why = await promise;
  clearTimeout(timer);
  signal?.removeEventListener('abort', onAbort);
  child.stdout.destroy();
  child.stderr.destroy();
  if (why === '') return;
  const outputEnd =
    output.trim() === '' ? '' : `; its output ends with: ${output.trim().replaceAll(/\s+/g, ' ')}`;
  const message = `the DNS hook ${program} failed to ${action} ${fqdn}: ${why}${outputEnd}`;
  throw new FrontdoorError('unavailable', 'dns-hook-failed', message);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
