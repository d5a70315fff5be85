/** nginx with one configuration, of one worker. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  mkdirSync(join(folder, 'temporary'), { recursive: true });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `  ${kind}_temp_path ${join(folder, 'temporary', kind)};`)
    .join('\n');
  const file = join(folder, 'nginx.conf');
  const configuration = `
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
daemon off;
pid ${join(folder, 'nginx.pid')};
error_log ${join(folder, 'error.log')} warn;
events { worker_connections ${workerConnections}; }
http {
${temporary}
  access_log off;
  sendfile on;
  tcp_nodelay on;
  keepalive_timeout 120s;
  keepalive_requests 100000000;
  default_type text/plain;
${sections}
}
`;
  writeFileSync(file, configuration, { mode: 0o600 });
  const nginx = startProcess(command, ['-e', join(folder, 'error.log'), '-c', file, '-p', folder]);
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
