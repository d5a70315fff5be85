import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { findCommand } from '../../support/child-process.ts';
import { makeSshdFiles, SSHD_FOLDER } from '../../support/sshd.ts';
import type { PrivateApp } from '../row.ts';

const FILE_BYTES = 20_000_000;

export const app: PrivateApp = {
  name: 'ssh',
  shows: 'a command and a copy of 20 MB each way over a private share',
  needs: { ssh: 'openssh-client', sshd: 'openssh-server' },
  program: ({ folder, port }) => {
    if (process.getuid?.() === 0) mkdirSync(SSHD_FOLDER, { recursive: true });
    const { config } = makeSshdFiles(folder, port);
    // The server wants to be started by its whole path.
    return { command: findCommand('sshd') ?? 'sshd', args: ['-D', '-e', '-f', config] };
  },
  checkPrivate: async (share, { folder }) => {
    const known = join(folder, 'known');
    writeFileSync(known, `server ${readFileSync(join(folder, 'host.pub'), 'utf8')}`);
    const options = ['-F', '/dev/null', '-i', join(folder, 'client'), '-o', `UserKnownHostsFile=${known}`];
    const strict = [
      ...options,
      '-o',
      'HostKeyAlias=server',
      '-o',
      'BatchMode=yes',
      '-o',
      'ConnectTimeout=20',
    ];
    const at = `${userInfo().username}@${share.host}`;
    assert.equal(await share.run('ssh', [...strict, '-p', String(share.port), at, 'echo hello']), 'hello\n');
    const [sent, stored, received] = ['sent', 'stored', 'received'].map((name) => join(folder, name));
    writeFileSync(sent!, randomBytes(FILE_BYTES));
    const scp = ['-q', ...strict, '-P', String(share.port)];
    await share.run('scp', [...scp, sent!, `${at}:${stored}`]);
    await share.run('scp', [...scp, `${at}:${stored}`, received!]);
    assert.ok(readFileSync(sent!).equals(readFileSync(received!)));
  },
};
