// A process that sends requests at a steady rate until it is told to stop: `steady-load.ts JSON`, see SteadyLoad.
// Prints a line once it runs, and what it saw when it ends.
import { Agent, request } from 'node:http';
import type { SteadyLoad, SteadyResult } from './steady-load-process.ts';

const CONNECTIONS = 16;
const TICK_MS = 1;

const { url, method, headers, body, perSecond } = JSON.parse(process.argv[2] ?? '{}') as SteadyLoad;
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
const startedMs = performance.now();
const latenciesMs: number[] = [];
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
    if (status >= 200 && status < 300) latenciesMs.push(performance.now() - sentMs);
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

process.once('SIGTERM', () => {
  const seconds = (performance.now() - startedMs) / 1000;
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round((latenciesMs[Math.floor(latenciesMs.length * share)] ?? 0) * 1000);
  const result: SteadyResult = {
    perSecond: latenciesMs.length / seconds,
    failed,
    p50Us: at(0.5),
    p99Us: at(0.99),
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
  process.exit(0);
});
process.stdout.write('running\n');
