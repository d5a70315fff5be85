/**
 * Finds the local program that listens on a port, as far as this user may see it. Only Linux provides the files
 * for that.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';

const LISTENING = '0A';

/** Returns `name (process id)`, or undefined if it cannot be determined. */
export async function portHolder(port: number): Promise<string | undefined> {
  const inodes = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const text = await readFile(table, 'utf8').catch(() => '');
    for (const line of text.split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state === LISTENING && Number.parseInt(local.split(':')[1] ?? '', 16) === port) inodes.add(inode);
    }
  }
  if (inodes.size === 0) return undefined;
  const processes = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of processes) {
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      if (inode !== undefined && inodes.has(inode)) return `${await commandName(pid)} (process ${pid})`;
    }
  }
  return undefined;
}

/** Returns the name of the program's file. Its arguments are not shown, because they may contain secrets. */
async function commandName(pid: string): Promise<string> {
  const file = await readlink(`/proc/${pid}/exe`).catch(() => '');
  if (file !== '') return basename(file);
  return (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'a program')).trim();
}
