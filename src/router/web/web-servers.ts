/**
 * The `web` section: HTTPS on its bind points, with HTTP/2 and HTTP/1.1, on ports that other listeners can share. Every
 * path responds with the health checks, like OpenZiti's routers, except `/metrics`, which is our addition for
 * Prometheus.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { FrontdoorError, messageOf, type Log } from '#base';
import { QuietLog, type ServerTls, type TlsPort, type TlsPorts } from '#net';
import { Exposition, EXPOSITION_TYPE } from '#net/metrics';
import type { IdentityConfig, WebBindPointConfig, WebServerConfig } from '../config/router-config.ts';
import type { HealthChecks } from '../health/health-checks.ts';
import { healthDocument } from '../health/health-document.ts';
import { Http1Connections } from './http1-connections.ts';
import { Http2Connections } from './http2-connections.ts';
import { answererOf, type WebApi } from './web-answer.ts';

export interface WebServersOptions {
  readonly servers: readonly WebServerConfig[];
  readonly ports: TlsPorts;
  /** The certificates of the router. */
  readonly tls: ServerTls;
  /** Loads the certificates of a server with its own identity. */
  readonly loadTls: (identity: IdentityConfig) => ServerTls;
  readonly handshakeTimeoutMs: number;
  /** Returns the place of a setting for messages. */
  readonly placeOf: (path: string) => string;
  readonly health: HealthChecks;
  /** At most once per second. */
  readonly writeMetrics: (to: Exposition) => void;
  readonly log: Log;
  /** Maximum connections per bind point; 1,024 by default. */
  readonly maxConnections?: number | undefined;
}

interface BindPoint {
  readonly server: WebServerConfig;
  readonly port: TlsPort;
  release: () => void;
  readonly http1: Http1Connections;
  readonly http2: Http2Connections;
  readonly sockets: Set<TLSSocket>;
}

const HEALTH_API = 'health-checks';
const PROTOCOLS = ['h2', 'http/1.1', ''];
const MAX_CONNECTIONS = 1_024;
const GRACE_MS = 15_000;
/** The metrics are read at most once per this time, however many requests arrive. */
const METRICS_AGE_MS = 1_000;

export class WebServers {
  readonly #options: WebServersOptions;
  readonly #quietLog: QuietLog;
  readonly #bindPoints: BindPoint[] = [];
  #metricsText = '';
  #metricsMs = -Infinity;

  private constructor(options: WebServersOptions) {
    this.#options = options;
    this.#quietLog = new QuietLog(options.log);
  }

  /** Rejects with the reason when a bind point cannot be opened; then none is open. */
  static async open(options: WebServersOptions): Promise<WebServers> {
    const servers = new WebServers(options);
    try {
      for (const server of options.servers) {
        for (const bindPoint of server.bindPoints) await servers.#open(server, bindPoint);
      }
    } catch (error) {
      await servers.close(0);
      throw error;
    }
    return servers;
  }

  /** Ports of the bind points, in the order of the file. */
  get ports(): readonly number[] {
    return this.#bindPoints.map(({ port }) => port.port);
  }

  /** Gives pending responses this time to finish. The owner of the ports closes those. */
  async close(graceMs = GRACE_MS): Promise<void> {
    const gone: Promise<void>[] = [];
    for (const { release, http1, http2, sockets } of this.#bindPoints) {
      release();
      for (const socket of sockets)
        gone.push(new Promise((resolve) => void socket.once('close', () => resolve())));
      http1.closeGently();
      http2.closeGently();
    }
    const cut = setTimeout(() => this.#cutAll(), graceMs);
    await Promise.all(gone);
    clearTimeout(cut);
  }

  #cutAll(): void {
    for (const { sockets } of this.#bindPoints) for (const socket of sockets) socket.destroy();
  }

  async #open(server: WebServerConfig, point: WebBindPointConfig): Promise<void> {
    const { ports, log, loadTls, handshakeTimeoutMs } = this.#options;
    const api = this.#apiOf(server);
    const tls = server.identity === undefined ? this.#options.tls : loadTls(server.identity);
    warnOfAddress(server, point, tls, log);
    const port = await ports.open({
      host: point.host,
      port: point.port,
      place: this.#options.placeOf(`${point.path}.interface`),
      tls: this.#options.tls,
      handshakeTimeoutMs,
    });
    const { readTimeoutMs, writeTimeoutMs, idleTimeoutMs, minTlsVersion, maxTlsVersion } = server.options;
    const timeouts = { readTimeoutMs, writeTimeoutMs, idleTimeoutMs };
    const answer = answererOf(api, point.newAddress);
    const http1 = new Http1Connections(timeouts, answer, log);
    const http2 = new Http2Connections(timeouts, answer, log);
    const sockets = new Set<TLSSocket>();
    const onSocket = (socket: TLSSocket): void => this.#onSocket(socket, bindPoint);
    const bindPoint: BindPoint = { server, port, http1, http2, sockets, release: () => {} };
    try {
      bindPoint.release = port.handle(PROTOCOLS, onSocket, {
        name: `${point.path} (${server.name})`,
        versions: { min: minTlsVersion, max: maxTlsVersion },
        tls: server.identity && tls,
      });
    } catch (error) {
      http1.closeGently();
      throw error;
    }
    this.#bindPoints.push(bindPoint);
    log.info({ server: server.name, port: port.port, apis: server.apis }, 'web server listens');
  }

  #onSocket(socket: TLSSocket, { server, sockets, http1, http2 }: BindPoint): void {
    socket.on('error', (error) =>
      this.#options.log.debug({ err: messageOf(error) }, 'web connection failed'),
    );
    if (sockets.size >= (this.#options.maxConnections ?? MAX_CONNECTIONS)) {
      this.#quietLog.warn({ server: server.name, peer: socket.remoteAddress }, 'too many web connections');
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    (socket.alpnProtocol === 'h2' ? http2 : http1).take(socket);
  }

  #apiOf({ path, apis }: WebServerConfig): WebApi {
    const unknown = apis.find((name) => name !== HEALTH_API);
    if (unknown !== undefined || apis.length === 0) {
      const message = `${path}.apis: ${HEALTH_API} is the one API there is${unknown === undefined ? '' : `, not ${unknown}`}`;
      throw new FrontdoorError('invalid', 'unknown-api', message);
    }
    const { health } = this.#options;
    return (requestPath, query, method) => {
      const isRead = method === 'GET' || method === 'HEAD';
      if (requestPath === '/metrics' && isRead) {
        return { contentType: EXPOSITION_TYPE, text: this.#metrics() };
      }
      const text = healthDocument(health.health(), query.get('type') === 'short');
      return { contentType: 'application/json', text };
    };
  }

  #metrics(): string {
    const nowMs = performance.now();
    if (nowMs - this.#metricsMs >= METRICS_AGE_MS) {
      this.#metricsMs = nowMs;
      const to = new Exposition();
      this.#options.writeMetrics(to);
      this.#metricsText = to.toString();
    }
    return this.#metricsText;
  }
}

/** Clients that use this address would refuse the certificate. */
function warnOfAddress(server: WebServerConfig, point: WebBindPointConfig, tls: ServerTls, log: Log): void {
  const host = point.address.slice(0, point.address.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1');
  const matches = ({ cert }: { readonly cert: string }): boolean => {
    const leaf = new X509Certificate(cert);
    return (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)) !== undefined;
  };
  if ([tls.default, ...tls.alternates].some(matches)) return;
  log.warn(
    { server: server.name, key: `${point.path}.address`, address: point.address },
    'no server certificate contains the address of a web bind point',
  );
}
