/** Loads of HTTP targets for `BenchRun.measure`: requests by wrk, downloads, and the load that proves bytes and counts. */
import type { BenchRun, Metered, Sample, Target } from './bench-run.ts';
import { checkedLoad, Downloader, type ClientEntrance } from './check-client.ts';
import { SMALL_BODY, type NginxPeer } from './nginx-peer.ts';
import type { Wrk } from './wrk-load.ts';

export interface HttpTarget extends Target {
  readonly port: number;
  readonly host: string;
  readonly entrance?: ClientEntrance | undefined;
  /** How often nginx counts one request that comes this way. */
  readonly serviceRequests: number;
  /** How long its last requests may take to reach nginx after a load has stopped; nginx's own measure when absent. */
  readonly quietMs?: number | undefined;
}

export interface RequestLoad {
  readonly path: string;
  readonly connections: number;
  /** A new connection for each request. */
  readonly close?: boolean | undefined;
}

type HttpSampler = (target: HttpTarget, seconds: number, metered: Metered) => Promise<Sample>;

/** Requests by wrk; throws when the private service saw other requests than wrk counts. */
export function requestSampler(
  nginx: NginxPeer,
  wrk: Wrk,
  { path, connections, close }: RequestLoad,
): HttpSampler {
  return async (
    { port, host, entrance: { ca, headers } = {}, serviceRequests, quietMs },
    seconds,
    metered,
  ) => {
    const counted = await nginx.requestCount(quietMs);
    const load = { port, host, path, connections, close, seconds, isSecure: ca !== undefined, headers };
    const { requests, requestsPerSecond, p50Us, p99Us } = await metered(() => wrk.run(load));
    const seen = ((await nginx.requestCount(quietMs)) - counted) / serviceRequests;
    // wrk stops without waiting for what is on its way: one request a connection may be seen and not counted.
    if (seen < requests || seen > requests + connections)
      throw new Error(`wrk counts ${requests} requests, the private service ${seen}`);
    return { units: requests, perSecond: requestsPerSecond, p50Us, p99Us };
  };
}

/** One download a round, however long it takes; its unit is the megabyte, its rate bytes per second. */
export function downloadSampler({ download }: NginxPeer): HttpSampler {
  const downloader = new Downloader(download);
  return async ({ port, host, entrance }, _seconds, metered) => {
    const perSecond = await metered(() => downloader.run(port, host, '/download', entrance));
    return { units: download.bytes / 1e6, perSecond };
  };
}

/** Every target through its checking load of `requests`: exact bytes, exact counts. */
export async function checkAnswers(
  run: BenchRun,
  nginx: NginxPeer,
  targets: readonly HttpTarget[],
  requests: number,
): Promise<void> {
  run.report(`checking bytes and counts: ${requests} requests each way`);
  for (const { name, port, host, entrance, serviceRequests } of targets) {
    const before = await nginx.requestCount();
    const load = { requests, connections: 32, smallBody: SMALL_BODY };
    const checked = await checkedLoad(port, host, load, entrance);
    const seen = ((await nginx.requestCount()) - before) / serviceRequests;
    if (seen !== checked.requests)
      throw new Error(`${name}: sent ${checked.requests}, the private service saw ${seen}`);
    run.addChecked(checked);
  }
}
