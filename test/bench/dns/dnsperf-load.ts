/** dnsperf as the load generator: its own report, and every lost or failed query an error of the run. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findCommand } from '../bench-process.ts';
import type { Sample } from '../bench-run.ts';
import { latencyOf } from '../figure.ts';

export const DNSPERF = 'dnsperf';

export interface DnsperfLoad {
  readonly port: number;
  /** File with a name and a type on each line. */
  readonly queries: string;
  readonly seconds: number;
  /** Maximum queries per second; absent: as many as are answered. */
  readonly rate?: number | undefined;
}

const CLIENTS = 10;
const WAITING_QUERIES = 100;
const EACH_ANSWER = /^> (\S+) .* (\d+\.\d+)$/gm;
const US_PER_SECOND = 1_000_000;

/**
 * Rejects when a query got no answer, or another one than NOERROR. Only a load with a rate has latencies, because the report
 * of each query costs more than the query.
 */
export async function runDnsperf({ port, queries, seconds, rate }: DnsperfLoad): Promise<Sample> {
  const args = ['-s', '127.0.0.1', '-p', `${port}`, '-d', queries, '-l', `${seconds}`];
  args.push('-c', `${CLIENTS}`, '-q', `${WAITING_QUERIES}`);
  if (rate !== undefined) args.push('-Q', `${rate}`, '-v');
  const { stdout: text } = await promisify(execFile)(findCommand(DNSPERF)!, args, { maxBuffer: Infinity });
  const units = numberIn(text, /Queries completed: +(\d+)/);
  const good = numberIn(text, /Response codes: +NOERROR (\d+)/);
  if (good === 0 || good !== numberIn(text, /Queries sent: +(\d+)/))
    throw new Error(`dnsperf: ${good} good answers\n${text.slice(-600)}`);
  const perSecond = numberIn(text, /Queries per second: +([\d.]+)/);
  if (rate === undefined) return { units, perSecond };
  const latencies = [...text.matchAll(EACH_ANSWER)].map(([, , time]) => Number(time) * US_PER_SECOND);
  return { units, perSecond, ...latencyOf(latencies) };
}

function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? 0);
}
