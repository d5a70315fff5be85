/** nginx with one configuration, of one worker. */
import { writeNginxFile } from '../support/nginx-file.ts';
import { childrenOf, findCommand, startProcess, until, untilListening } from './bench-process.ts';

const START_DEADLINE_MS = 10_000;

export interface NginxProgram {
  /** The worker does all the work. */
  readonly workerPid: number;
  stop(): Promise<void>;
}

/** Starts it and waits until it accepts connections at `port`; `sections` end its `http` block. */
export async function startNginxProgram(
  folder: string,
  port: number,
  sections: string,
  workerConnections = 8_192,
): Promise<NginxProgram> {
  const command = findCommand('nginx');
  if (command === undefined) throw new Error('nginx is not in PATH: apt-get install nginx');
  const http = `  access_log off;
  sendfile on;
  tcp_nodelay on;
  keepalive_timeout 120s;
  keepalive_requests 100000000;
  default_type text/plain;
${sections}`;
  const nginx = startProcess(command, writeNginxFile(folder, { http, workerConnections }));
  await untilListening('nginx', nginx, port);
  const workerPid = await until('a worker of nginx', START_DEADLINE_MS, () => {
    const [pid] = childrenOf(nginx.child.pid!);
    if (pid === undefined) throw new Error('none yet');
    return pid;
  });
  return {
    workerPid,
    stop: () => nginx.stop('SIGTERM'),
  };
}
