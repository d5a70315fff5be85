/** wrk against an HTTP API: one thread, any method and headers, bodies with a running number, statuses counted. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runWrk, WRK_REPORT, wrkCommand, type WrkResult } from '../wrk-load.ts';

export interface ApiRequest {
  readonly port: number;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `%d` becomes a number of its own in each request. */
  readonly body?: string | undefined;
}

export class ApiLoad {
  readonly #command: string;
  readonly #folder: string;
  #scripts = 0;

  constructor(folder: string) {
    this.#command = wrkCommand();
    this.#folder = folder;
  }

  /** Throws when any answer was not 2xx, or a connection broke. */
  async run(request: ApiRequest, seconds: number, connections: number): Promise<WrkResult> {
    const script = join(this.#folder, `load-${(this.#scripts += 1)}.lua`);
    writeFileSync(script, scriptOf(request));
    const url = `http://127.0.0.1:${request.port}${request.path}`;
    const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '20s', '-s', script, url];
    return runWrk(this.#command, args, `${request.method} ${request.path}`);
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
  return lines.join('\n') + WRK_REPORT;
}

function quoted(text: string): string {
  return `[==[${text}]==]`;
}
