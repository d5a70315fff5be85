/**
 * The name server of mode tproxy: answers queries for names of services with addresses that lead into this router, and
 * forwards the others to the upstreams. It caches nothing, so TTLs remain those of the upstreams. Only this file connects
 * the parts beside it.
 */
import type { Clock, Log } from '#base';
import type { TunnelListenerConfig } from '../../config/router-config.ts';
import { HostsFile } from './hosts-file.ts';
import { InterceptedNames } from './intercepted-names.ts';
import { QueryResponder } from './query-responder.ts';
import { ResolverPort } from './resolver-port.ts';
import { flushResolverCache } from './system-resolver-cache.ts';
import { checkSystemResolver, SYSTEM_PORT } from './system-resolver-check.ts';
import { DnsUpstream } from './dns-upstream.ts';
import { Upstreams } from './upstreams.ts';

export interface NameServerOptions {
  readonly config: Pick<
    TunnelListenerConfig,
    'path' | 'resolvers' | 'dnsSvcIpRange' | 'dnsUpstreams' | 'dnsUpstreamMode' | 'dnsUnanswerable'
  >;
  /** Path of the file that keeps the addresses of names. */
  readonly file: string;
  /** Returns the place of a key in the router file: file, line and key. */
  placeOf(path: string): string;
  /** Returns whether a flow to an address is open, so that no other name gets it. */
  isInUse(address: string): boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export class NameServer {
  readonly names: InterceptedNames;
  readonly #upstreams: Upstreams;
  readonly #ports: readonly ResolverPort[];
  readonly #responder: QueryResponder;
  readonly #log: Log;
  #hostsFiles: readonly HostsFile[] = [];

  private constructor(options: NameServerOptions, names: InterceptedNames) {
    const { config, clock, log } = options;
    const placeOf = (key: string): string => options.placeOf(`${config.path}.options.${key}`);
    const place = placeOf('dnsUpstream');
    const upstreams = (config.dnsUpstreams ?? []).map(
      (upstream) => new DnsUpstream({ config: upstream, place, log }),
    );
    this.names = names;
    this.#log = log;
    this.#upstreams = new Upstreams(upstreams, config.dnsUpstreamMode);
    const unanswerable = config.dnsUnanswerable;
    const responder = new QueryResponder({ names, upstreams: this.#upstreams, unanswerable, clock, log });
    this.#responder = responder;
    this.#ports = config.resolvers.flatMap((resolver) =>
      resolver.kind === 'file'
        ? []
        : new ResolverPort({
            ...resolver,
            place: placeOf('resolver'),
            responder,
            log,
          }),
    );
  }

  /**
   * Rejects if the range has no addresses, or the file of names cannot be used. An address of `resolver` that is taken is
   * an error in the log, and is tried again until it can be opened.
   */
  static async open(options: NameServerOptions): Promise<NameServer> {
    const { config, file, isInUse, clock, log } = options;
    const { resolvers, dnsSvcIpRange } = config;
    const names = await InterceptedNames.open({
      range: dnsSvcIpRange,
      place: options.placeOf(`${config.path}.options.dnsSvcIpRange`),
      file,
      areWildcardsAllowed: resolvers.some(({ kind }) => kind === 'udp'),
      isInUse,
      clock,
      log,
    });
    const server = new NameServer(options, names);
    await server.#open(options);
    return server;
  }

  /** The ports on which it listens, in the order of `resolver`; undefined for one that cannot be opened. */
  get ports(): readonly (number | undefined)[] {
    return this.#ports.map(({ port }) => port);
  }

  async close(): Promise<void> {
    for (const port of this.#ports) port.close();
    this.#upstreams.close();
    await Promise.all(this.#hostsFiles.map((file) => file.close()));
    await this.names.close();
    if (this.#ports.length > 0) await flushResolverCache(this.#log);
  }

  async #open({ config, placeOf, log }: NameServerOptions): Promise<void> {
    const place = placeOf(`${config.path}.options.resolver`);
    const { names } = this;
    this.#hostsFiles = await Promise.all(
      config.resolvers.flatMap((resolver) =>
        resolver.kind === 'file' ? HostsFile.open({ path: resolver.path, names, place, log }) : [],
      ),
    );
    await Promise.all(this.#ports.map((port) => port.open()));
    this.#upstreams.start();
    if (this.#ports.length > 0) void flushResolverCache(log);
    const responder = this.#responder;
    if (this.ports.includes(SYSTEM_PORT)) void checkSystemResolver({ responder, place, log });
  }
}
