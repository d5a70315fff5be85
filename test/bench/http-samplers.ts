/** Loads of HTTP targets for `BenchRun.measure`: requests by wrk, downloads, and the load that proves bytes and counts. */
import type { BenchRun, Sampler, Target } from './bench-run.ts';
import { checkedLoad, Downloader, type Door } from './check-client.ts';
import type { H2load, Http2Load } from './h2load.ts';
import { SMALL_BODY, type NginxPeer } from './nginx-peer.ts';
import { Wrk, type WrkLoad } from './wrk-load.ts';

export interface HttpTarget extends Target, Door {
  /** How often nginx counts one request that comes this way. */
  readonly serviceRequests: number;
  /** How long its last requests may take to reach nginx after a load has stopped; nginx's own measure when absent. */
  readonly quietMs?: number | undefined;
}

export class HttpSamplers {
  /** The private service of all targets. */
  readonly nginx: NginxPeer;
  readonly #run: BenchRun;
  readonly #wrk: Wrk;

  /** Throws when wrk is not there. */
  constructor(run: BenchRun, nginx: NginxPeer) {
    this.nginx = nginx;
    this.#run = run;
    this.#wrk = new Wrk(run.folder);
  }

  /** Requests by wrk; throws when the private service saw other requests than wrk counts. */
  requests(load: WrkLoad): Sampler<HttpTarget> {
    return async (target, seconds, metered) => {
      const { serviceRequests, quietMs } = target;
      const counted = await this.nginx.requestCount(quietMs);
      const sample = await metered(() => this.#wrk.run(target, load, seconds));
      const seen = ((await this.nginx.requestCount(quietMs)) - counted) / serviceRequests;
      // wrk stops without waiting for what is on its way: one request a connection may be seen and not counted.
      if (seen < sample.units || seen > sample.units + load.connections)
        throw new Error(`wrk counts ${sample.units} requests, the private service ${seen}`);
      return sample;
    };
  }

  /** Requests by h2load; throws when the private service saw other requests than h2load counts. */
  http2(h2load: H2load, load: Http2Load): Sampler<HttpTarget> {
    return async (target, seconds, metered) => {
      const { serviceRequests, quietMs } = target;
      const counted = await this.nginx.requestCount(quietMs);
      const sample = await metered(() => h2load.run(target, load, seconds));
      const seen = ((await this.nginx.requestCount(quietMs)) - counted) / serviceRequests;
      if (seen < sample.units || seen > sample.units + load.connections * load.streams)
        throw new Error(`h2load counts ${sample.units} requests, the private service ${seen}`);
      return sample;
    };
  }

  /** One download a round, however long it takes; its unit is the megabyte, its rate bytes per second. */
  downloads(): Sampler<HttpTarget> {
    const { download } = this.nginx;
    const downloader = new Downloader(download);
    return async (target, _seconds, metered) => {
      const perSecond = await metered(() => downloader.run(target, '/download'));
      return { units: download.bytes / 1e6, perSecond };
    };
  }

  /**
   * As many downloads at once, again and again until the round ends; the unit is the megabyte. Their bytes are not compared:
   * those of `downloads` are.
   */
  downloadsAtOnce(connections: number): Sampler<HttpTarget> {
    const load = { path: '/download', connections, countsBytes: true };
    return async (target, seconds, metered) => {
      const sample = await metered(() => this.#wrk.run(target, load, seconds));
      // Those that were cut off are on their way for a while.
      await this.nginx.requestCount(target.quietMs);
      return sample;
    };
  }

  /** Every target through its checking load of `requests`: exact bytes, exact counts. */
  async check(targets: readonly HttpTarget[], requests: number): Promise<void> {
    this.#run.report(`checking bytes and counts: ${requests} requests each way`);
    for (const target of targets) {
      const before = await this.nginx.requestCount();
      const checked = await checkedLoad(target, { requests, connections: 32, smallBody: SMALL_BODY });
      const seen = ((await this.nginx.requestCount()) - before) / target.serviceRequests;
      if (seen !== checked.requests)
        throw new Error(`${target.name}: sent ${checked.requests}, the private service saw ${seen}`);
      this.#run.addChecked(checked);
    }
  }
}
