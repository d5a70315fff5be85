/** nginx with one configuration, of one worker. */
import { join } from 'node:path';
import { writeNginxFile } from '../support/nginx-file.ts';
import { childrenOf, findCommand, startProcess, until, untilListening } from '../support/child-process.ts';
import type { BenchRun } from './bench-run.ts';

const START_DEADLINE_MS = 10_000;

/** In a location: requests over connections that are kept for the next ones, with the client's Host. */
export const KEPT_UPSTREAM = `
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;`;

/**
 * Starts it and waits until it accepts connections at `port`; `sections` end its `http` block. Returns the process id of its
 * worker, which does all the work. It ends with the run.
 */
export async function startNginxProgram(
  run: BenchRun,
  port: number,
  sections: string,
  workerConnections = 8_192,
): Promise<number> {
  const command = findCommand('nginx');
  if (command === undefined) throw new Error('nginx is not in PATH: apt-get install nginx');
  const http = `  access_log off;
  sendfile on;
  tcp_nodelay on;
  keepalive_timeout 120s;
  keepalive_requests 100000000;
  default_type text/plain;
${sections}`;
  const folder = join(run.folder, `nginx-${port}`);
  const nginx = run.keep(startProcess(command, writeNginxFile(folder, { http, workerConnections })));
  await untilListening('nginx', nginx, port);
  return until('a worker of nginx', START_DEADLINE_MS, () => {
    const [pid] = childrenOf(nginx.child.pid!);
    if (pid === undefined) throw new Error('none yet');
    return pid;
  });
}
