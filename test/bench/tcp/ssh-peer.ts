/** `ssh -L` at an sshd of the run, on loopback, with keys and configurations of its own and otherwise its defaults. */
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import {
  childrenOf,
  findCommand,
  freePort,
  startProcess,
  until,
  untilListening,
} from '../../support/child-process.ts';
import { makeSshdFiles, SSHD_FOLDER } from '../../support/sshd.ts';
import type { BenchRun } from '../bench-run.ts';
import type { OutsidePeer } from '../outside-peers.ts';

export const SSH = 'ssh -L';
const SESSION_MS = 10_000;

/** Throws where OpenSSH is not installed. It ends with the run. */
export async function startSsh(run: BenchRun, service: number): Promise<OutsidePeer> {
  const [ssh, sshd] = [findCommand('ssh'), findCommand('sshd')];
  if (ssh === undefined || sshd === undefined) throw new Error('ssh and sshd are not both installed');
  const folder = mkdtempSync(join(run.folder, 'ssh-'));
  const { username, uid } = userInfo();
  if (uid === 0) mkdirSync(SSHD_FOLDER, { recursive: true });
  const serverPort = await freePort();
  const { config, key } = makeSshdFiles(folder, serverPort);
  const server = run.keep(startProcess(sshd, ['-D', '-e', '-f', config]));
  await untilListening('sshd', server, serverPort);
  const port = await freePort();
  const options = ['ExitOnForwardFailure=yes', 'StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null'];
  const client = run.keep(
    startProcess(ssh, [
      ...['-N', '-F', 'none', '-i', key, '-p', String(serverPort)],
      ...options.flatMap((option) => ['-o', option]),
      ...['-L', `127.0.0.1:${port}:127.0.0.1:${service}`, `${username}@127.0.0.1`],
    ]),
  );
  await untilListening('ssh', client, port);
  const session = await until('a session of sshd', SESSION_MS, () => sessionBelow(server.child.pid!));
  const processes = new Map([
    ['ssh', client.child.pid!],
    ['sshd', session],
  ]);
  return { name: SSH, port, processes };
}

/** The process that passes bytes on. The titles of those that check keys or keep privileges have brackets. */
function sessionBelow(pid: number): number {
  const below = childrenOf(pid).flatMap((child) => [child, ...childrenOf(child)]);
  const session = below.find((one) => readFileSync(`/proc/${one}/cmdline`, 'latin1').match(/^sshd[^[]*$/));
  if (session === undefined) throw new Error('none yet');
  return session;
}
