/** A client that asks for a second handshake within its TLS 1.2 connection: `R` makes openssl's s_client do so. */
import { spawn } from 'node:child_process';
import { within } from '../support/deadline.ts';
import { findCommand } from '../bench/bench-process.ts';

const END_MS = 5_000;

export interface Renegotiation {
  /** There was a second handshake. Not: refused, cut, or never connected, by a server of 1.3 alone. */
  readonly isGranted: boolean;
  readonly hasCompression: boolean;
  /** All that openssl said. */
  readonly text: string;
}

/** Undefined: no openssl in PATH. */
export async function askToRenegotiate(port: number, serverName: string): Promise<Renegotiation | undefined> {
  const command = findCommand('openssl');
  if (command === undefined) return undefined;
  const child = spawn(
    command,
    ['s_client', '-connect', `127.0.0.1:${port}`, '-servername', serverName, '-tls1_2'],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  let text = '';
  let asked = -1;
  const keep = (bytes: Buffer): void => {
    text += bytes.toString('latin1');
    if (asked >= 0 || !text.includes('Verify return code')) return;
    asked = text.length;
    child.stdin.write('R\n');
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  child.stdin.on('error', () => {});
  const ended = new Promise((resolve) => child.once('close', resolve));
  await within('the end of s_client', ended, END_MS).catch(() => {});
  child.kill('SIGKILL');
  await ended;
  return {
    // A second handshake would show its certificate once more.
    isGranted: asked >= 0 && /verify return:1|depth=0/.test(text.slice(asked)),
    hasCompression: /^Compression: (?!NONE)/m.test(text),
    text,
  };
}
