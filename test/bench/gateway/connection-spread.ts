/** Which process holds how many of a port's connections: the kernel's table of sockets beside each process's files. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const ESTABLISHED = '01';

/** Inodes of established sockets whose own port is `port`, from the text of `/proc/net/tcp`. */
export function establishedInodes(table: string, port: number): Set<string> {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = new Set<string>();
  for (const line of table.split('\n').slice(1)) {
    // Number, own address, far address, state, queues, timer, retransmits, user, timeout, inode.
    const [, own, , state, , , , , , inode] = line.trim().split(/\s+/);
    if (inode !== undefined && state === ESTABLISHED && own?.split(':')[1] === wanted) inodes.add(inode);
  }
  return inodes;
}

/** Connections of `port` by process. */
export function connectionsByProcess(port: number, pids: readonly number[]): number[] {
  const inodes = establishedInodes(readFileSync('/proc/net/tcp', 'latin1'), port);
  return pids.map((pid) => {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).filter((file) => isOneOf(`${folder}/${file}`, inodes)).length;
  });
}

function isOneOf(path: string, inodes: ReadonlySet<string>): boolean {
  try {
    const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1];
    return inode !== undefined && inodes.has(inode);
  } catch {
    // Closed since it was listed.
    return false;
  }
}

/** The smallest share of all, from 0 to 0.5 for two processes; 0 when there is nothing to share. */
export function smallestShare(counts: readonly number[]): number {
  const sum = counts.reduce((total, count) => total + count, 0);
  return sum === 0 ? 0 : Math.min(...counts) / sum;
}
