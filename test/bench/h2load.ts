/** Runs h2load of nghttp2, a load generator of HTTP/2, and reads its report. Every error is an error of the run. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand, startProcess } from '../support/child-process.ts';
import type { Sample } from './bench-run.ts';
import type { Door } from './check-client.ts';

export const H2LOAD = 'h2load';

export interface Http2Load {
  readonly path: string;
  readonly connections: number;
  /** Requests at once over each connection. */
  readonly streams: number;
  /** POST of a message of gRPC instead of GET. */
  readonly isCall: boolean;
}

/** A message of 32 bytes. */
const MESSAGE = Buffer.concat([Buffer.from([0, 0, 0, 0, 32]), Buffer.alloc(32, 'x')]);

export class H2load {
  readonly #command: string;
  readonly #messageFile: string;

  /** Throws when h2load is not there. */
  constructor(folder: string) {
    const command = findCommand(H2LOAD);
    if (command === undefined) throw new Error('h2load is not in PATH: apt-get install nghttp2-client');
    this.#command = command;
    this.#messageFile = join(folder, 'message.bin');
    writeFileSync(this.#messageFile, MESSAGE);
  }

  /** Believes any certificate. Throws when a request failed, or any answer was not 2xx. */
  async run({ port, host, headers = {} }: Door, load: Http2Load, seconds: number): Promise<Sample> {
    const { path, connections, streams, isCall } = load;
    const args = ['-t1', `-c${connections}`, `-m${streams}`, `-D${seconds}`];
    args.push(`--connect-to=127.0.0.1:${port}`);
    for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`);
    if (isCall)
      args.push('-d', this.#messageFile, '-H', 'content-type: application/grpc', '-H', 'te: trailers');
    const process = startProcess(this.#command, [...args, `https://${host}:${port}${path}`]);
    await new Promise((resolve) => process.child.once('close', resolve));
    return sampleOf(process.tail(), seconds);
  }
}

/** `seconds`: for how long it was measured. */
export function sampleOf(report: string, seconds: number): Sample {
  const [, done, succeeded, failed] =
    /^requests: .* (\d+) done, (\d+) succeeded, (\d+) failed/m.exec(report) ?? [];
  // It counts statuses of responses that were under way at the end, too.
  const isGood = /^status codes: \d+ 2xx, 0 3xx, 0 4xx, 0 5xx/m.test(report);
  const isClean = isGood && done !== '0' && failed === '0' && done === succeeded;
  if (done === undefined || !isClean) {
    const counts = report.split('\n').filter((line) => /^(?:requests|status codes):/.test(line));
    throw new Error(`h2load met errors: ${counts.join('; ') || report}`);
  }
  return { units: Number(done), perSecond: Number(done) / seconds };
}
