/** Configurations of nginx that keep every file below one folder, for a program that stays in the foreground. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

export interface NginxFile {
  /** The text of the `http` block. */
  readonly http: string;
  /** Blocks behind that of `http`. */
  readonly after?: string;
  /** Paths of modules that are loaded. */
  readonly modules?: readonly string[];
  /** 1,024 by default. */
  readonly workerConnections?: number;
  /** nginx serves in its first process, instead of a worker of it. */
  readonly isOneProcess?: boolean;
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** Writes the configuration into `folder`, and returns the arguments with which nginx uses it. */
export function writeNginxFile(
  folder: string,
  { http, after = '', modules = [], workerConnections = 1_024, isOneProcess = false }: NginxFile,
): string[] {
  const temporary = join(folder, 'temporary');
  mkdirSync(temporary, { recursive: true });
  const file = join(folder, 'nginx.conf');
  const log = join(folder, 'error.log');
  const text = `
${modules.map((name) => `load_module ${name};`).join('\n')}
${process.getuid?.() === 0 ? 'user root;' : ''}
${isOneProcess ? 'master_process off;' : 'worker_processes 1;'}
daemon off;
pid ${join(folder, 'nginx.pid')};
error_log ${log} warn;
events { worker_connections ${workerConnections}; }
http {
${TEMPORARY.map((kind) => `  ${kind}_temp_path ${join(temporary, kind)};`).join('\n')}
${http}
}
${after}
`;
  writeFileSync(file, text, { mode: 0o600 });
  return ['-e', log, '-c', file, '-p', folder];
}
