import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { PartProcess } from './part-process.ts';

type Part = Pick<PartProcess, 'pid' | 'isRunning'>;

/**
 * Stops a process as a debugger or a sleeping machine does: its connections stay open, and it answers
 * nothing.
 */
export function suspend({ pid }: Part): void {
  process.kill(pid, 'SIGSTOP');
}

export function resume(part: Part): void {
  if (part.isRunning) process.kill(part.pid, 'SIGCONT');
}

/** TCP sockets that a process of this machine holds from or to one of these ports. */
export function socketCount(part: Pick<Part, 'pid'>, ports: readonly number[]): number {
  return socketsOf(part).filter((ends) => ends.some((port) => ports.includes(port))).length;
}

/** Local ports of its TCP sockets to this port. */
export function localPortsTo(part: Pick<Part, 'pid'>, port: number): number[] {
  return socketsOf(part).flatMap(([local, remote]) => (remote === port ? [local] : []));
}

/** Local and remote port of each TCP socket that a process holds. */
function socketsOf({ pid }: Pick<Part, 'pid'>): [local: number, remote: number][] {
  const held = new Set<string>();
  const folder = `/proc/${pid}/fd`;
  for (const fd of readdirSync(folder)) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${fd}`))?.[1];
      if (inode !== undefined) held.add(inode);
    } catch {
      // closed in the meantime
    }
  }
  const sockets: [number, number][] = [];
  for (const kind of ['tcp', 'tcp6']) {
    for (const line of readFileSync(`/proc/${pid}/net/${kind}`, 'latin1').split('\n').slice(1)) {
      const [, local = '', remote = '', , , , , , , inode = ''] = line.trim().split(/\s+/);
      if (held.has(inode)) sockets.push([portOfHex(local), portOfHex(remote)]);
    }
  }
  return sockets;
}

/** Returns the port of an address like `0100007F:1F90`. */
function portOfHex(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16);
}
