/**
 * Two routers of a test with real sockets at their ends: listeners at the first, dialers at the second, a link between
 * them, and a controller that grants circuits to all services for which the test has an address.
 */
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { silentLog, systemClock, type Clock } from '#base';
import { TlsPorts } from '#net';
import type { TlsIdentity } from '#net/channel';
import { contentType, type Frame } from '#wire';
import { encodeCircuitFailed, encodeCircuitSuccess, type RouteResult } from '#wire/circuits';
import { ctrlMessages, DestType, type CtrlBody } from '#wire/ctrl';
import type { XgressConfig } from '../../config/router-config.ts';
import { XGRESS_CONFIG_DEFAULTS } from '../../config/testing/router-config-defaults.ts';
import { CircuitAsker } from '../../ctrl/circuit-asker.ts';
import { MemoryLink, type MemoryLinkOptions } from '../../forwarder/testing/memory-link.ts';
import { MemoryRouter, type MeshOptions } from '../../forwarder/testing/memory-mesh.ts';
import { CircuitListener, type CircuitListenerConfig } from '../circuit-listener.ts';
import { IngressCircuits } from '../ingress-circuits.ts';
import { DatagramListener } from '../datagram-listener.ts';
import { edgeTransportDialer, transportDialer } from '../transport-dialer.ts';
import { transportUdpDialer } from '../transport-udp-dialer.ts';

export const NO_TLS: TlsIdentity = { cert: '', key: '', ca: '' };

export interface TransportWorldOptions {
  /** Options of the listeners. */
  readonly ingress?: Partial<XgressConfig>;
  /** Options of the dialer. */
  readonly egress?: Partial<XgressConfig>;
  readonly near?: MeshOptions;
  readonly far?: MeshOptions;
  readonly link?: MemoryLinkOptions;
  readonly tls?: TlsIdentity;
}

export class TransportWorld {
  readonly near: MemoryRouter;
  readonly far: MemoryRouter;
  readonly link: MemoryLink;
  /** Terminator addresses by service. */
  readonly services = new Map<string, string>();
  readonly requests: CtrlBody<'circuitRequest'>[] = [];
  readonly results: RouteResult[] = [];
  readonly #options: TransportWorldOptions;
  readonly #ports = new TlsPorts({ log: silentLog });
  readonly #t: TestContext;
  #count = 0;

  constructor(t: TestContext, options: TransportWorldOptions = {}) {
    this.#t = t;
    this.#options = options;
    this.near = new MemoryRouter('near', options.near);
    this.far = new MemoryRouter('far', options.far);
    this.link = new MemoryLink('link', this.near.forwarder, this.far.forwarder, options.link);
    const dialing = {
      ends: this.far.ends,
      config: { ...XGRESS_CONFIG_DEFAULTS, ...options.egress },
      tls: () => options.tls ?? NO_TLS,
    };
    this.far.dialers.add('transport', transportDialer(dialing));
    this.far.dialers.add('edge_transport', edgeTransportDialer(dialing));
    this.far.dialers.add(
      'transport_udp',
      transportUdpDialer({ ends: this.far.ends, config: { ...XGRESS_CONFIG_DEFAULTS, ...options.egress } }),
    );
    this.near.controller.answers.set(contentType.circuitRequest, (request, channel) => {
      void this.#grant(request).then((answer) => channel.send(answer));
    });
    t.after(async () => {
      this.near.close();
      this.far.close();
      await this.#ports.close();
    });
  }

  async listen(binding: 'proxy' | 'transport', type: 'tcp' | 'tls' = 'tcp'): Promise<CircuitListener> {
    const config: CircuitListenerConfig = {
      path: 'listeners[0]',
      xgress: { ...XGRESS_CONFIG_DEFAULTS, ...this.#options.ingress },
      address: { type, host: '127.0.0.1', port: 0 },
      ...(binding === 'proxy' ? { binding, service: 'echo' } : { binding, advertise: 'here:1' }),
    };
    const { tls = NO_TLS } = this.#options;
    const listener = await CircuitListener.open({
      config,
      place: config.path,
      circuits: this.#circuits(),
      ports: this.#ports,
      tls: { default: tls, alternates: [] },
      handshakeTimeoutMs: 600_000,
      log: silentLog,
    });
    this.#t.after(() => listener.close());
    return listener;
  }

  /** Opens a `proxy_udp` listener with a service, or a `transport_udp` one without. */
  async listenUdp(service: string | undefined, clock: Clock = systemClock): Promise<DatagramListener> {
    const listener = await DatagramListener.open({
      config: {
        path: 'listeners[0]',
        xgress: { ...XGRESS_CONFIG_DEFAULTS, ...this.#options.ingress },
        address: { network: 'udp', host: '127.0.0.1', port: 0 },
        service,
      },
      place: 'listeners[0]',
      circuits: this.#circuits(),
      clock,
      log: silentLog,
    });
    this.#t.after(() => listener.close());
    return listener;
  }

  /** A service of the test that receives datagrams. */
  async serveUdp(name: string, onDatagram: (socket: UdpSocket, data: Buffer, from: RemoteInfo) => void) {
    const socket = createSocket('udp4', (data, from) => onDatagram(socket, data, from));
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    this.#t.after(() => void socket.close());
    this.services.set(name, `udp:127.0.0.1:${socket.address().port}`);
  }

  /** A service of the test, which receives each of its connections. */
  async serve(name: string, onConnection: (socket: Socket) => void): Promise<Server> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {});
      this.#t.after(() => socket.destroy());
      onConnection(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#t.after(() => server.close());
    this.services.set(name, `tcp:127.0.0.1:${listeningPort(server)}`);
    return server;
  }

  /** Routes like a controller, the far router first. */
  async dial(service: string): Promise<RouteResult> {
    const circuitId = `circuit${(this.#count += 1)}`;
    const destination = this.services.get(service) ?? service;
    const binding = destination.startsWith('udp4:') ? 'transport_udp' : 'transport';
    const result = await this.far.route({
      circuitId,
      timeout: 30_000_000_000n,
      egress: { binding, address: `${circuitId}-out`, destination },
      forwards: [
        { srcAddress: 'link', dstAddress: `${circuitId}-out`, dstType: DestType.END },
        { srcAddress: `${circuitId}-out`, dstAddress: 'link', dstType: DestType.LINK },
      ],
    });
    this.results.push(result);
    if (!result.isSuccess) return result;
    return this.near.route({
      circuitId,
      forwards: [
        { srcAddress: `${circuitId}-in`, dstAddress: 'link', dstType: DestType.LINK },
        { srcAddress: 'link', dstAddress: `${circuitId}-in`, dstType: DestType.START },
      ],
    });
  }

  #circuits(): IngressCircuits {
    const asker = new CircuitAsker(this.near.controllers);
    return new IngressCircuits({ ...this.near, asker, log: silentLog });
  }

  async #grant(request: Frame): Promise<Frame> {
    const asked = ctrlMessages.circuitRequest.decode(request.body);
    this.requests.push(asked);
    if (!this.services.has(asked.service)) return encodeCircuitFailed(request, `no service ${asked.service}`);
    const { circuitId, isSuccess, error } = await this.dial(asked.service);
    if (!isSuccess) return encodeCircuitFailed(request, error);
    return encodeCircuitSuccess(request, { circuitId, address: `${circuitId}-in`, peerData: new Map() });
  }
}

export function listeningPort(server: Server): number {
  return (server.address() as { port: number }).port;
}
