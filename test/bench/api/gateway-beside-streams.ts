/**
 * Whether the gateway feels open streams of changes: the p99 of a steady 1,000 requests a second through `frontdoor up`, with
 * 200 streams in the same process and ten changes a second that each of them gets, and with the changes alone.
 */
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchRun } from '../bench-run.ts';
import { startUp } from '../product.ts';
import { makeChanges, openSessions, openStreams } from './console-readers.ts';
import {
  publishService,
  requestsOfShare,
  runSteadyLoads,
  startService,
  withoutFailure,
} from './steady-load.ts';

const STREAMS = 200;
export const STREAMS_SCENARIO = `gateway, 1,000 requests/s beside ${STREAMS} open streams`;
export const WITHOUT_STREAMS = 'without streams';
export const WITH_STREAMS = 'with streams';

const REQUESTS_PER_SECOND = 1_000;
const CHANGE_INTERVAL_MS = 100;

/** Skipped where nginx is not there. */
export async function measureGatewayBesideStreams(run: BenchRun): Promise<void> {
  if (!run.wants(STREAMS_SCENARIO)) return;
  const service = await startService(run, STREAMS_SCENARIO);
  if (service === undefined) return;
  const product = run.keep(await startUp(run, 'beside-streams'));
  await publishService(product, service);
  const requests = await requestsOfShare(product, REQUESTS_PER_SECOND);
  const cookies = await openSessions(product, STREAMS);
  const { processes } = product;
  const targets = [
    { name: WITHOUT_STREAMS, processes, streams: 0 },
    { name: WITH_STREAMS, processes, streams: STREAMS },
  ];
  await run.measure(STREAMS_SCENARIO, 'request', targets, async ({ streams }, seconds, metered) => {
    const agent = new Agent({ maxSockets: STREAMS });
    const change = async (): Promise<void> => {
      await makeChanges(product, 1);
      await pause(CHANGE_INTERVAL_MS);
    };
    try {
      const open = await openStreams(product, cookies.slice(0, streams), agent);
      const [result] = await metered(() => runSteadyLoads([requests], seconds, change));
      const sample = withoutFailure(result!);
      const silent = open.filter(({ events }) => events === 0).length;
      if (silent > 0) throw new Error(`${silent} of ${streams} streams had no changes`);
      for (const { response } of open) response.destroy();
      return sample;
    } finally {
      agent.destroy();
    }
  });
}
