/**
 * Circuits at this router: the forwarder and its reports, the ends that the router holds itself, and the dialers and
 * listeners that create them. `router.ts` provides controllers and ports; the edge and the links connect to the
 * forwarder.
 */
import type { Clock, Log, WorkerPool } from '#base';
import type { ServerTls, TlsPorts } from '#net';
import type { TlsIdentity } from '#net/channel';
import { TerminatorInvalidReason } from '#wire/ctrl';
import type {
  ProxyListenerConfig,
  ProxyUdpListenerConfig,
  RouterConfig,
  TransportListenerConfig,
  TransportUdpListenerConfig,
} from '../config/router-config.ts';
import type { DatagramAddress } from '../config/text-kinds.ts';
import { CircuitAsker } from '../ctrl/circuit-asker.ts';
import type { Controllers, CtrlHandlers, InspectSource } from '../ctrl/controllers.ts';
import type { TerminatorCheck } from '../edge/terminator-messages.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { CircuitListener } from '../xgress/circuit-listener.ts';
import { DatagramListener } from '../xgress/datagram-listener.ts';
import { EgressDialers } from '../xgress/egress-dialers.ts';
import { IngressCircuits } from '../xgress/ingress-circuits.ts';
import { EDGE_TRANSPORT, edgeTransportDialer, transportDialer } from '../xgress/transport-dialer.ts';
import { transportUdpDialer } from '../xgress/transport-udp-dialer.ts';
import { XgressEnds } from '../xgress/xgress-ends.ts';
import { CircuitFaults } from '../forwarder/circuit-faults.ts';
import { inspectCircuits } from '../forwarder/circuit-inspection.ts';
import { CircuitRoutes } from './circuit-routes.ts';
import { Forwarder } from '../forwarder/forwarder.ts';
import { IdleScan } from '../forwarder/idle-scan.ts';

export interface CircuitPartOptions {
  readonly routerId: string;
  readonly config: RouterConfig;
  readonly controllers: Controllers;
  readonly ports: TlsPorts;
  /** Returns the current identity. Called for each dial. */
  tls(): { readonly client: TlsIdentity; readonly server: ServerTls };
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

const TRANSPORT = 'transport';
const TRANSPORT_UDP = 'transport_udp';

type OwnListenerConfig =
  | ProxyListenerConfig
  | ProxyUdpListenerConfig
  | TransportListenerConfig
  | TransportUdpListenerConfig;

export class CircuitPart {
  readonly forwarder: Forwarder;
  readonly #options: CircuitPartOptions;
  readonly #faults: CircuitFaults;
  readonly #ends: XgressEnds;
  readonly #dialers: EgressDialers;
  readonly #routes: CircuitRoutes;
  readonly #idleScan: IdleScan;
  readonly #ingress: IngressCircuits;
  readonly #asker: CircuitAsker;
  readonly #listeners: (CircuitListener | DatagramListener)[] = [];

  constructor(options: CircuitPartOptions) {
    this.#options = options;
    const { routerId, config, controllers, metrics, clock, log } = options;
    const { faultTxIntervalMs, xgressCloseCheckIntervalMs } = config.forwarder;
    const faults = new CircuitFaults({ controllers, faultTxIntervalMs, metrics, log });
    this.#faults = faults;
    this.forwarder = new Forwarder({
      routerId,
      faults,
      closeCheckIntervalMs: xgressCloseCheckIntervalMs,
      metrics,
      clock,
    });
    const { forwarder } = this;
    metrics.tagUsage((circuitId) => forwarder.circuit(circuitId)?.tags);
    this.#ends = new XgressEnds({ forwarder, faults, metrics, log });
    this.#dialers = new EgressDialers(config.dialers);
    const transport = this.#dialers.listed(TRANSPORT);
    const shared = { ends: this.#ends, tls: () => options.tls().client, clock };
    if (transport !== undefined)
      this.#dialers.add(TRANSPORT, transportDialer({ ...shared, config: transport.xgress }));
    // It reaches what `transport` reaches, so that who allows one allows the other.
    const edgeTransport = this.#dialers.listed(EDGE_TRANSPORT) ?? transport;
    if (edgeTransport !== undefined)
      this.#dialers.add(EDGE_TRANSPORT, edgeTransportDialer({ ...shared, config: edgeTransport.xgress }));
    const transportUdp = this.#dialers.listed(TRANSPORT_UDP);
    if (transportUdp !== undefined)
      this.#dialers.add(
        TRANSPORT_UDP,
        transportUdpDialer({ ends: this.#ends, config: transportUdp.xgress, clock }),
      );
    this.#routes = new CircuitRoutes({ forwarder, dialers: this.#dialers, config: config.forwarder, log });
    this.#idleScan = new IdleScan({ forwarder, controllers, ...config.forwarder, log, clock });
    this.#asker = new CircuitAsker(controllers);
    this.#ingress = new IngressCircuits({ asker: this.#asker, ends: this.#ends, faults, log });
  }

  /** The interfaces through which tunnels begin and end circuits. */
  get forTunnel() {
    return { ingress: this.#ingress, ends: this.#ends, dialers: this.#dialers };
  }

  /** The interfaces through which the edge part uses the forwarder and its reports. */
  get forEdge() {
    return {
      forwarder: this.forwarder,
      ends: this.#ends,
      faults: this.#faults,
      dialers: this.#dialers,
      asker: this.#asker,
      terminatorChecks: [this.#checkTransport],
    };
  }

  get routePool(): WorkerPool {
    return this.#routes.pool;
  }

  /** Rejects with a `FrontdoorError` when the address cannot be listened on. */
  async listen(config: OwnListenerConfig): Promise<void> {
    const { log } = this.#options;
    const listener = await this.#open(config);
    this.#listeners.push(listener);
    log.info({ listener: config.path, binding: config.binding, port: listener.port }, 'listener is open');
  }

  #open(config: OwnListenerConfig): Promise<CircuitListener | DatagramListener> {
    const { ports, tls, log } = this.#options;
    const { handshakeTimeoutMs } = this.#options.config;
    const circuits = this.#ingress;
    if (config.binding === 'proxy_udp' || config.binding === 'transport_udp')
      return this.#openDatagrams(config, config.address);
    const { type, host, port } = config.address;
    if (type === 'udp') return this.#openDatagrams(config, { network: 'udp', host, port });
    const certificates = tls().server;
    const place = this.#placeOf(config);
    return CircuitListener.open({
      config,
      place,
      circuits,
      ports,
      tls: certificates,
      handshakeTimeoutMs,
      log,
    });
  }

  #openDatagrams(config: OwnListenerConfig, address: DatagramAddress): Promise<DatagramListener> {
    const { clock, log } = this.#options;
    const service = 'service' in config ? config.service : undefined;
    return DatagramListener.open({
      config: { ...config, address, service },
      place: this.#placeOf(config),
      circuits: this.#ingress,
      clock,
      log,
    });
  }

  #placeOf({ path }: OwnListenerConfig): string {
    return this.#options.config.placeOf(path, 'address', 'bind');
  }

  handlers(): CtrlHandlers[] {
    return [this.#routes.handlers()];
  }

  readonly inspect: InspectSource = (name) =>
    inspectCircuits(this.forwarder, name, this.#options.clock.monotonicMs());

  /** Counts the circuits that moved data within the last `idleMs`, and the far ends that are being dialed. */
  busyCount(idleMs: number): number {
    const sinceMs = this.#options.clock.monotonicMs() - idleMs;
    let count = this.#routes.dialCount;
    for (const { lastActiveMs } of this.forwarder.circuits()) if (lastActiveMs >= sinceMs) count += 1;
    return count;
  }

  /**
   * Closes this part's own ports, so that load balancers select another router. Controllers prefer other paths;
   * circuits without another path still begin and end here.
   */
  drain(): void {
    for (const listener of this.#listeners.splice(0)) listener.close();
  }

  close(): void {
    this.drain();
    this.#routes.close();
    this.#idleScan.close();
    this.#ends.close();
    this.#faults.close();
    this.forwarder.close();
  }

  /**
   * A terminator is valid if its binding can be dialed. Whether its address answers is only known when a circuit is
   * dialed.
   */
  readonly #checkTransport: TerminatorCheck = ({ binding }) => {
    if (binding === 'edge') return undefined;
    const isKnown = this.#dialers.knows(binding);
    const detail = isKnown ? '' : `dialers does not list ${binding}`;
    return { valid: isKnown, reason: TerminatorInvalidReason.UNKNOWN_BINDING, detail };
  };
}
