/** An sshd on loopback with keys and settings of its own. */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SshdFiles {
  readonly config: string;
  /** Private key that the server accepts for any user. */
  readonly key: string;
  /** Public key of the server. */
  readonly hostKey: string;
}

/** Debian's sshd wants this folder, which its service makes at each start. */
export const SSHD_FOLDER = '/run/sshd';

/** Replaces those of an earlier run in `folder`. */
export function makeSshdFiles(folder: string, port: number): SshdFiles {
  const [host, client] = ['host', 'client'].map((name) => {
    const path = join(folder, name);
    for (const file of [path, `${path}.pub`]) rmSync(file, { force: true });
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path]);
    return path;
  });
  const settings = {
    Port: port,
    ListenAddress: '127.0.0.1',
    HostKey: host,
    AuthorizedKeysFile: `${client}.pub`,
    StrictModes: 'no',
    UsePAM: 'no',
    PermitRootLogin: 'prohibit-password',
    PidFile: 'none',
    Subsystem: 'sftp internal-sftp',
  };
  const config = join(folder, 'sshd.conf');
  const lines = Object.entries(settings).map(([key, value]) => `${key} ${value}\n`);
  writeFileSync(config, lines.join(''));
  return { config, key: client!, hostKey: `${host}.pub` };
}
