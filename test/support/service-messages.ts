/** The end of systemd: a socket of datagrams that takes what programs report. Node has none, so Python keeps it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { until, within } from './deadline.ts';

// Descriptors that come with a message are closed by the kernel, which the sender of a barrier waits for.
const RECEIVER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('listening', flush=True)
while True:
    print(s.recvmsg(4096)[0].decode(), flush=True)
`;

export interface ServiceMessages {
  /** What NOTIFY_SOCKET names. */
  readonly socket: string;
  /** Removes what has come and returns it once there are `count` messages. */
  take(count: number): Promise<readonly string[]>;
}

export async function openServiceMessages(t: Pick<TestContext, 'after'>): Promise<ServiceMessages> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-notify-'));
  const socket = join(folder, 'notify');
  const child = spawn('python3', ['-c', RECEIVER, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  await within('the socket', once(reader, 'line'));
  reader.on('line', (line) => {
    if (!line.startsWith('BARRIER=')) lines.push(line);
  });
  return {
    socket,
    take: async (count) => {
      await until(
        `${count} messages`,
        () => lines,
        () => lines.length >= count,
      );
      return lines.splice(0);
    },
  };
}
