/** A client that asks for a second handshake within its TLS 1.2 connection: `R` makes openssl's s_client do so. */
import { spawn } from 'node:child_process';
import { within } from '../support/deadline.ts';
import { findCommand } from '../support/child-process.ts';

const END_MS = 5_000;

export interface Renegotiation {
  /** There was a second handshake. Not: refused, cut, or never connected, by a server of 1.3 alone. */
  readonly isGranted: boolean;
  readonly hasCompression: boolean;
  /** The output of openssl, of both streams. */
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
  let out = '';
  let errorOutput = '';
  let isAsked = false;
  child.stdout.setEncoding('latin1').on('data', (text: string) => {
    out += text;
    if (isAsked || !out.includes('Verify return code')) return;
    isAsked = true;
    child.stdin.write('R\n');
  });
  child.stderr.setEncoding('latin1').on('data', (text: string) => (errorOutput += text));
  child.stdin.on('error', () => {});
  const ended = new Promise((resolve) => child.once('close', resolve));
  await within('the end of s_client', ended, END_MS).catch(() => {});
  child.kill('SIGKILL');
  await ended;
  return {
    // A second handshake would show its certificate once more, in the stream that also shows the request for it; the
    // order of the two streams is not defined.
    isGranted: /RENEGOTIATING[^]*(?:verify return:1|depth=0)/.test(errorOutput),
    hasCompression: /^Compression: (?!NONE)/m.test(out),
    text: out + errorOutput,
  };
}
