/**
 * Whether the gateway feels open streams of changes: the p99 of a steady 1,000 requests a second through `frontdoor up`, with
 * 200 streams in the same process and ten changes a second that each of them gets, and with the changes alone.
 */
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findCommand } from '../bench-process.ts';
import type { BenchRun } from '../bench-run.ts';
import { startNginx } from '../nginx-peer.ts';
import { startUp, untilServed } from '../product.ts';
import { startScript } from '../script-process.ts';
import { makeChanges, openSessions, openStreams } from './console-readers.ts';
import type { SteadyLoad, SteadyResult } from './steady-load-process.ts';

const STREAMS = 200;
export const STREAMS_SCENARIO = `gateway, 1,000 requests/s beside ${STREAMS} open streams`;
export const WITHOUT_STREAMS = 'without streams';
export const WITH_STREAMS = 'with streams';

const REQUESTS_PER_SECOND = 1_000;
const CHANGE_INTERVAL_MS = 100;
const DOWNLOAD_BYTES = 1_048_576;
const SHARE = 'bench';

/** Skipped where nginx is not there. */
export async function measureGatewayBesideStreams(run: BenchRun): Promise<void> {
  if (!run.wants(STREAMS_SCENARIO)) return;
  if (findCommand('nginx') === undefined) return run.skip(STREAMS_SCENARIO, 'nginx is not in PATH');
  const nginx = await startNginx(join(run.folder, 'nginx-streams'), DOWNLOAD_BYTES);
  run.defer(() => nginx.stop());
  const folder = join(run.folder, 'gateway-streams');
  const product = await startUp({ folder, args: ['--any-port'], cpuProfileDir: run.options.cpuProfileDir });
  run.defer(() => product.stop());
  await product.publish(SHARE, `http://127.0.0.1:${nginx.servicePort}`);
  await untilServed(product.port, `${SHARE}.${product.zone}`, '/small');
  const load: SteadyLoad = {
    url: `http://127.0.0.1:${product.port}/small`,
    method: 'GET',
    headers: { host: `${SHARE}.${product.zone}` },
    perSecond: REQUESTS_PER_SECOND,
  };
  const cookies = await openSessions(product, STREAMS);
  const { processes } = product;
  const targets = [
    { name: WITHOUT_STREAMS, processes, streams: 0 },
    { name: WITH_STREAMS, processes, streams: STREAMS },
  ];
  await run.measure(STREAMS_SCENARIO, 'request', targets, async ({ streams }, seconds, metered) => {
    const agent = new Agent({ maxSockets: STREAMS });
    try {
      const open = await openStreams(product, cookies.slice(0, streams), agent);
      const { failed, answered, perSecond, p50Us, p99Us } = await metered(async () => {
        const running = await startScript('api/steady-load-process.ts', load);
        const endMs = performance.now() + seconds * 1_000;
        while (performance.now() < endMs) {
          await makeChanges(product, 1);
          await pause(CHANGE_INTERVAL_MS);
        }
        return JSON.parse(await running.ask()) as SteadyResult;
      });
      if (failed > 0) throw new Error(`${failed} requests failed`);
      const silent = open.filter(({ events }) => events === 0).length;
      if (silent > 0) throw new Error(`${silent} of ${streams} streams had no changes`);
      for (const { response } of open) response.destroy();
      return { units: answered, perSecond, p50Us, p99Us };
    } finally {
      agent.destroy();
    }
  });
}
