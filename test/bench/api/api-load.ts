/** wrk against an HTTP API: one thread, any method and headers, bodies with a running number, statuses counted. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand, startProcess } from '../bench-process.ts';

export interface ApiRequest {
  readonly port: number;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `%d` becomes a number of its own in each request. */
  readonly body?: string;
}

export interface ApiLoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

const CONNECTIONS = 32;

export class ApiLoad {
  readonly #command: string;
  readonly #folder: string;
  #scripts = 0;

  constructor(folder: string) {
    const command = findCommand('wrk');
    if (command === undefined) throw new Error('wrk is not in PATH: apt-get install wrk');
    this.#command = command;
    this.#folder = folder;
  }

  /** Throws when any answer was not 2xx, or a connection broke. */
  async run(request: ApiRequest, seconds: number, connections = CONNECTIONS): Promise<ApiLoadResult> {
    const script = join(this.#folder, `load-${(this.#scripts += 1)}.lua`);
    writeFileSync(script, scriptOf(request));
    const url = `http://127.0.0.1:${request.port}${request.path}`;
    const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '20s', '-s', script, url];
    const wrk = startProcess(this.#command, args);
    await new Promise((resolve) => wrk.child.once('close', resolve));
    const line = /^RESULT (\{.*\})$/m.exec(wrk.tail());
    if (line === null) throw new Error(`wrk gave no result: ${wrk.tail()}`);
    const result = JSON.parse(line[1]!) as Record<string, number>;
    const broken = ['connect', 'read', 'write', 'status', 'timeout'].filter((kind) => result[kind] !== 0);
    if (broken.length > 0 || result['requests'] === 0) {
      throw new Error(`wrk met errors at ${request.method} ${request.path}: ${line[1]}`);
    }
    return {
      requests: result['requests']!,
      requestsPerSecond: (result['requests']! * 1e6) / result['durationUs']!,
      p50Us: result['p50Us']!,
      p99Us: result['p99Us']!,
    };
  }
}

function scriptOf({ method, headers, body }: ApiRequest): string {
  const lines = [`wrk.method = ${quoted(method)}`];
  for (const [name, value] of Object.entries(headers))
    lines.push(`wrk.headers[ ${quoted(name)} ] = ${quoted(value)}`);
  if (body !== undefined) {
    // Numbers start at the time, so that runs after each other make different bodies.
    lines.push(
      'local n = os.time() % 1000000 * 1000',
      `request = function() n = n + 1; return wrk.format(nil, nil, nil, string.format(${quoted(body)}, n)) end`,
    );
  }
  lines.push(`
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '\\nRESULT {"requests":%d,"durationUs":%d,"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d,' ..
    '"p50Us":%d,"p99Us":%d}\\n',
    summary.requests, summary.duration, e.connect, e.read, e.write, e.status, e.timeout,
    latency:percentile(50), latency:percentile(99)))
end`);
  return lines.join('\n');
}

function quoted(text: string): string {
  return `[==[${text}]==]`;
}
