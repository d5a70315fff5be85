/** wrk as the load generator: one thread, its own report read through a script, every error an error of the run. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand, startProcess } from './bench-process.ts';
import type { Latency } from './figure.ts';

/** Lua that prints what a run found as one line of JSON. */
export const WRK_REPORT = `
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '\\nRESULT {"requests":%d,"durationUs":%d,"bytes":%d,"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d,' ..
    '"p50Us":%d,"p99Us":%d,"maxUs":%d}\\n',
    summary.requests, summary.duration, summary.bytes, e.connect, e.read, e.write, e.status, e.timeout,
    latency:percentile(50), latency:percentile(99), latency.max))
end
`;

/** wrk takes the server name of a handshake from the URL; names of shares need not resolve, so it looks up loopback. */
const WRK_LOOPBACK = `
wrk.resolve = function(host, service)
  wrk.addrs = wrk.lookup("127.0.0.1", service)
end
`;

export interface WrkResult extends Latency {
  readonly requests: number;
  readonly requestsPerSecond: number;
}

export interface WrkLoad {
  readonly port: number;
  readonly host: string;
  readonly path: string;
  readonly connections: number;
  readonly seconds: number;
  /** A new connection for each request. */
  readonly close?: boolean | undefined;
  /** TLS, with `host` as server name; wrk believes any certificate. */
  readonly isSecure?: boolean | undefined;
  /** Header fields of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export class Wrk {
  readonly #command: string;
  readonly #script: string;

  constructor(folder: string) {
    this.#command = wrkCommand();
    this.#script = join(folder, 'report.lua');
    writeFileSync(this.#script, WRK_LOOPBACK + WRK_REPORT);
  }

  /** Throws when any answer was not 2xx, or a connection broke. */
  async run(load: WrkLoad): Promise<WrkResult> {
    const args = [
      '-t1',
      `-c${load.connections}`,
      `-d${load.seconds}s`,
      '--timeout',
      '20s',
      '-s',
      this.#script,
    ];
    args.push('-H', `Host: ${load.host}`);
    if (load.close === true) args.push('-H', 'Connection: close');
    for (const [name, value] of Object.entries(load.headers ?? {})) args.push('-H', `${name}: ${value}`);
    const origin = load.isSecure === true ? `https://${load.host}` : 'http://127.0.0.1';
    args.push(`${origin}:${load.port}${load.path}`);
    return runWrk(this.#command, args, `${load.host}${load.path}`);
  }
}

/** Throws when wrk is not there. */
export function wrkCommand(): string {
  const command = findCommand('wrk');
  if (command === undefined) throw new Error('wrk is not in PATH: apt-get install wrk');
  return command;
}

/** Runs wrk with a script that ends in `WRK_REPORT`. Throws when any answer was not 2xx, or a connection broke. */
export async function runWrk(command: string, args: readonly string[], asked: string): Promise<WrkResult> {
  const wrk = startProcess(command, args);
  await new Promise((resolve) => wrk.child.once('close', resolve));
  const line = /^RESULT (\{.*\})$/m.exec(wrk.tail());
  if (line === null) throw new Error(`wrk gave no result: ${wrk.tail()}`);
  const result = JSON.parse(line[1]!) as Record<string, number>;
  const errors = ['connect', 'read', 'write', 'status', 'timeout'].filter((kind) => result[kind] !== 0);
  if (errors.length > 0 || result['requests'] === 0)
    throw new Error(`wrk met errors at ${asked}: ${line[1]}`);
  return {
    requests: result['requests']!,
    requestsPerSecond: (result['requests']! * 1e6) / result['durationUs']!,
    p50Us: result['p50Us']!,
    p99Us: result['p99Us']!,
  };
}
