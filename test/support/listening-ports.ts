/** The TCP ports that a process listens on, as the kernel lists them (Linux). */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** State of a listening socket in `/proc/net/tcp`. */
const LISTEN = '0A';

export const canListListeningPorts = process.platform === 'linux';

/** Ascending. */
export function listeningPorts(pid: number): number[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? [];
        return inode === undefined ? [] : [inode];
      } catch {
        // Closed in the meantime.
        return [];
      }
    }),
  );
  const ports = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((columns) => columns[3] === LISTEN && inodes.has(columns[9] ?? ''))
      .map((columns) => Number.parseInt(columns[1]!.split(':')[1]!, 16)),
  );
  return [...new Set(ports)].sort((a, b) => a - b);
}
