/** A mail server that nobody here wrote: Debian's aiosmtpd, with a listener for each mode of TLS. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { makeTestAuthority } from './certificates.ts';
import { within } from './deadline.ts';

const SCRIPT = fileURLToPath(new URL('smtp_server.py', import.meta.url));
/** Debian's own: another Python in PATH does not have the package. */
const PYTHON = '/usr/bin/python3';
const isInstalled = spawnSync(PYTHON, ['-c', 'import aiosmtpd']).status === 0;

export const withoutSmtp =
  !isInstalled && process.env['FRONTDOOR_TEST_STRICT'] !== '1' ? 'python3-aiosmtpd is not installed' : false;

export interface ReceivedMail {
  readonly to: readonly string[];
  readonly sender: string;
  readonly user: string | null;
  readonly isTls: boolean;
  /** With its headers. */
  readonly text: string;
}

export interface SmtpServer {
  readonly ports: Readonly<Record<'none' | 'starttls' | 'implicit', number>>;
  readonly password: string;
  /** The authority of its certificate (PEM). */
  readonly ca: string;
  readonly received: ReceivedMail[];
  close(): Promise<void>;
}

interface Reported extends Omit<ReceivedMail, 'text'> {
  readonly mail?: string;
  readonly ports?: SmtpServer['ports'];
}

export async function startSmtpServer(): Promise<SmtpServer> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-smtp-'));
  const { cert, key, ca } = await (await makeTestAuthority()).issue('localhost');
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  const password = 'correct horse battery staple';
  const child = spawn(PYTHON, ['-W', 'ignore', SCRIPT], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.end(JSON.stringify({ cert: certFile, key: keyFile, password }));
  const received: ReceivedMail[] = [];
  const ready = Promise.withResolvers<SmtpServer['ports']>();
  child.once('exit', (code) => ready.reject(new Error(`the mail server ended with ${String(code)}`)));
  ready.promise.catch(() => {});
  createInterface(child.stdout).on('line', (line) => {
    const { ports, mail, ...rest } = JSON.parse(line) as Reported;
    if (ports !== undefined) ready.resolve(ports);
    if (mail !== undefined) received.push({ ...rest, text: Buffer.from(mail, 'base64').toString() });
  });
  const ports = await within('the start of the mail server', ready.promise);
  return {
    ports,
    password,
    ca,
    received,
    async close() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
