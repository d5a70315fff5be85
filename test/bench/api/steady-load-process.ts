// A load at a steady rate: its arguments as JSON. Prints a line once it runs; at a line of its input it prints what it
// found as one line of JSON and ends.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { Sample } from '../bench-run.ts';
import { latencyOf } from '../figure.ts';

export interface SteadyLoad {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** `%d` becomes a number of its own in each request. */
  readonly body?: string | undefined;
  readonly perSecond: number;
}

/** The sample counts requests that were answered with success, and times them from sending to the end of the answer. */
export interface SteadyResult extends Sample {
  readonly failed: number;
}

const CONNECTIONS = 16;
const TICK_MS = 1;

const load = JSON.parse(process.argv[2] ?? '{}') as SteadyLoad;
const { url, method, headers, body, perSecond } = load;
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
const startedMs = performance.now();
const latenciesUs: number[] = [];
let sent = 0;
let open = 0;
let failed = 0;

function send(): void {
  const text = body?.replace('%d', String(sent));
  const sentMs = performance.now();
  sent += 1;
  open += 1;
  const done = (status: number): void => {
    open -= 1;
    if (status >= 200 && status < 400) latenciesUs.push((performance.now() - sentMs) * 1000);
    else failed += 1;
  };
  const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) };
  const call = request(url, { method, agent, headers: { ...headers, ...length } }, (answer) => {
    answer.resume();
    answer.once('end', () => done(answer.statusCode!));
  });
  call.once('error', () => done(0));
  call.end(text);
}

setInterval(() => {
  const due = ((performance.now() - startedMs) * perSecond) / 1000;
  // A server that falls behind is not flooded: what could not be sent in time shows in the rate.
  while (sent < due && open < CONNECTIONS) send();
}, TICK_MS);

process.stdout.write('running\n');
await once(process.stdin, 'data');
const seconds = (performance.now() - startedMs) / 1000;
const result: SteadyResult = {
  units: latenciesUs.length,
  perSecond: latenciesUs.length / seconds,
  failed,
  ...latencyOf(latenciesUs),
};
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
