import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PublicApp } from '../row.ts';

const FILE_BYTES = 20_000_000;

export const app: PublicApp = {
  name: 'wsgidav',
  shows:
    'WebDAV with rclone: upload, list, move, copy and download, with names that need encoding; also with --host-header localhost',
  needs: { python3: 'python3-venv', rclone: 'rclone' },
  pip: ['wsgidav==4.3.3', 'cheroot==10.0.1'],
  program: ({ folder, port }) => {
    rmSync(join(folder, 'served'), { recursive: true, force: true });
    mkdirSync(join(folder, 'served'));
    const root = ['--root', join(folder, 'served'), '--auth', 'anonymous'];
    return {
      command: join(folder, 'python', 'bin', 'wsgidav'),
      args: ['--host', '127.0.0.1', '--port', String(port), ...root],
    };
  },
  check: async (share, { folder }) => {
    const local = join(folder, 'local');
    const content = randomBytes(FILE_BYTES);
    rmSync(local, { recursive: true, force: true });
    mkdirSync(local);
    writeFileSync(join(local, 'a file ü.bin'), content);
    const remote = `:webdav,url="${share.origin}",vendor=other:`;
    const rclone = (...args: readonly string[]) => share.run('rclone', args, { RCLONE_CONFIG: '/dev/null' });
    await rclone('copy', local, `${remote}first/`);
    await rclone('moveto', `${remote}first/a file ü.bin`, `${remote}second/b%.bin`);
    await rclone('copyto', `${remote}second/b%.bin`, `${remote}second/c.bin`);
    const listed = await rclone('lsf', '--recursive', '--files-only', remote);
    assert.deepEqual(listed.trim().split('\n').toSorted(), ['second/b%.bin', 'second/c.bin']);
    await share.change('--host-header', 'localhost');
    await rclone('moveto', `${remote}second/c.bin`, `${remote}third/c.bin`);
    await rclone('copyto', `${remote}third/c.bin`, join(local, 'received'));
    assert.ok(readFileSync(join(local, 'received')).equals(content));
  },
};
