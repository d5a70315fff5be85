/**
 * A script that runs again in a network and mount namespace of its own, where programs ask the name server at 127.0.0.1,
 * which is that of a router in mode tproxy: a test file.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSIDE = 'FRONTDOOR_TPROXY_NAMESPACE';
const MAX_OUTPUT_BYTES = 64 << 20;

/** The namespace has a way to a world that is not there. */
const SETUP = [
  'ip link set lo up',
  'ip addr add 192.0.2.1/32 dev lo',
  'ip route add default dev lo src 192.0.2.1',
  'mount --bind "$1" /etc/resolv.conf',
  'shift',
  'exec "$@"',
].join(' && ');

/** Arguments of `unshare`, with which it runs `command` in such a namespace. `folder` keeps a file for as long. */
export function namespaceArguments(folder: string, command: readonly string[]): string[] {
  const resolver = join(folder, 'resolv.conf');
  writeFileSync(resolver, 'nameserver 127.0.0.1\n');
  return ['--net', '--mount', 'sh', '-c', SETUP, 'sh', resolver, ...command];
}

/** Whether the process is the second run of a test file. */
export function isInside(): boolean {
  return process.env[INSIDE] === '1';
}

/** Runs the test file again. Rejects with its output if it fails. */
export async function runInside(t: Pick<TestContext, 'after'>, file: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-tproxy-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const again = [process.execPath, '--disable-warning=ExperimentalWarning', file];
  const args = namespaceArguments(folder, again);
  // The runner's context is left out: this is a run of its own.
  const env = { ...process.env, [INSIDE]: '1', NODE_TEST_CONTEXT: undefined };
  await run('unshare', args, { env, maxBuffer: MAX_OUTPUT_BYTES });
}

/** Resolves with the answer's body. Rejects if `curl` receives no answer. */
export async function curlOf(url: string): Promise<string> {
  const args = ['--silent', '--show-error', '--max-time', '10', url];
  return (await run('curl', args, { maxBuffer: MAX_OUTPUT_BYTES })).stdout;
}
