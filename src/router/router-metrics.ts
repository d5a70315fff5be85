/** The metrics of a router for Prometheus: those of its registry, when its certificates end, and those of its process. */
import { X509Certificate } from 'node:crypto';
import type { ServerTls } from '#net';
import type { TlsIdentity } from '#net/channel';
import {
  certificateExpiries,
  writeBuildInformation,
  writeProcessMetrics,
  type Exposition,
} from '#net/metrics';
import type { RouterIdentity } from './identity/router-identity.ts';
import type { MetricRegistry } from './metrics/metric-registry.ts';
import { writeRouterMetrics } from './metrics/prometheus-text.ts';

export class RouterMetrics {
  readonly #registry: MetricRegistry;
  readonly #identity: () => RouterIdentity;
  readonly #release: string | undefined;
  readonly #web: ServerTls[] = [];

  constructor(registry: MetricRegistry, identity: () => RouterIdentity, release: string | undefined) {
    this.#registry = registry;
    this.#identity = identity;
    this.#release = release;
  }

  /** Adds the certificates of a web server that has an identity of its own, and returns them. */
  withWebServer({ server }: RouterIdentity): ServerTls {
    this.#web.push(server);
    return server;
  }

  /** Leaves out what another part of the same process writes. */
  writeOwn(to: Exposition): void {
    const { id, client, server } = this.#identity();
    writeRouterMetrics(to, id, this.#registry.read());
    const kinds = { identity: [client], server: served(server), 'web server': this.#web.flatMap(served) };
    to.family(
      'frontdoor_router_certificate_expiry_timestamp_seconds',
      'gauge',
      'Unix time at which a certificate of the router ends, the first to end of each kind',
      certificateExpiries(
        Object.entries(kinds).flatMap(([name, identities]) => {
          const certificate = firstToEnd(identities);
          return certificate === undefined ? [] : [{ name, certificate }];
        }),
      ),
    );
  }

  /** For a router that is a program by itself. */
  writeAll(to: Exposition): void {
    if (this.#release !== undefined) writeBuildInformation(to, this.#release);
    this.writeOwn(to);
    writeProcessMetrics(to);
  }
}

function served({ default: first, alternates }: ServerTls): readonly TlsIdentity[] {
  return [first, ...alternates];
}

function firstToEnd(identities: readonly TlsIdentity[]): X509Certificate | undefined {
  const leaves = identities.map(({ cert }) => new X509Certificate(cert));
  return leaves.toSorted((a, b) => a.validToDate.getTime() - b.validToDate.getTime())[0];
}
