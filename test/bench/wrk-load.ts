/** wrk as the load generator: one thread, its own report read through a script, every error an error of the run. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand, startProcess } from '../support/child-process.ts';
import type { Sample } from './bench-run.ts';
import type { Door } from './check-client.ts';

/** Lua that prints what a run found as one line of JSON. */
const REPORT = `
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
const LOOPBACK = `
wrk.resolve = function(host, service)
  wrk.addrs = wrk.lookup("127.0.0.1", service)
end
`;

export interface WrkLoad {
  readonly path: string;
  readonly connections: number;
  /** A new connection for each request. */
  readonly close?: boolean | undefined;
  /** POST of this body instead of GET; `%d` becomes a number of its own in each request. */
  readonly body?: string | undefined;
  /** Counts the megabytes that came, also of answers that were not finished, instead of requests. */
  readonly countsBytes?: boolean | undefined;
}

export class Wrk {
  readonly #command: string;
  readonly #folder: string;
  #scripts = 0;

  /** Throws when wrk is not there. */
  constructor(folder: string) {
    const command = findCommand('wrk');
    if (command === undefined) throw new Error('wrk is not in PATH: apt-get install wrk');
    this.#command = command;
    this.#folder = folder;
  }

  /** Believes any certificate. Throws when any answer was not 2xx, or a connection broke. */
  async run({ port, host, ca, headers = {} }: Door, load: WrkLoad, seconds: number): Promise<Sample> {
    const { path, connections, close = false, body, countsBytes = false } = load;
    const script = join(this.#folder, `load-${(this.#scripts += 1)}.lua`);
    writeFileSync(script, scriptOf(body));
    const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '20s', '-s', script];
    args.push('-H', `Host: ${host}`);
    if (close) args.push('-H', 'Connection: close');
    for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`);
    const origin = ca === undefined ? 'http://127.0.0.1' : `https://${host}`;
    const wrk = startProcess(this.#command, [...args, `${origin}:${port}${path}`]);
    await new Promise((resolve) => wrk.child.once('close', resolve));
    const line = /^RESULT (\{.*\})$/m.exec(wrk.tail());
    if (line === null) throw new Error(`wrk gave no result: ${wrk.tail()}`);
    const result = JSON.parse(line[1]!) as Record<string, number>;
    const errors = ['connect', 'read', 'write', 'status', 'timeout'].filter((kind) => result[kind] !== 0);
    const counted = result[countsBytes ? 'bytes' : 'requests']!;
    if (errors.length > 0 || counted === 0) throw new Error(`wrk met errors at ${host}${path}: ${line[1]}`);
    const perSecond = (counted * 1e6) / result['durationUs']!;
    if (countsBytes) return { units: counted / 1e6, perSecond };
    return { units: counted, perSecond, p50Us: result['p50Us'], p99Us: result['p99Us'] };
  }
}

function scriptOf(body: string | undefined): string {
  if (body === undefined) return LOOPBACK + REPORT;
  // Numbers start at the time, so that runs after each other make different bodies.
  const post = `
wrk.method = "POST"
local n = os.time() % 1000000 * 1000
request = function() n = n + 1; return wrk.format(nil, nil, nil, string.format([==[${body}]==], n)) end
`;
  return post + LOOPBACK + REPORT;
}
