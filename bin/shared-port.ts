/**
 * The one TLS port of `up --one-port`. Connections to the router are recognized by their protocols (ALPN), those to the edge
 * API, the Management API and shares by the name that the client asks for (SNI), before TLS begins. ADR 0089.
 */
import { isIP, type Socket } from 'node:net';
import { FrontdoorError, type Log } from '#base';
import type { SharedPlace } from '#gateway';
import { TlsPort, type ClientHello } from '#net';

export interface SharedNames {
  /** Hosts of the edge API: names, or addresses, whose clients send no name. */
  readonly edge: readonly string[];
  /** Names of the Management API; empty if it is not served here. */
  readonly api: readonly string[];
}

export interface SharedPortOptions {
  readonly host: string;
  readonly port: number;
  /** Until the router has its own. */
  readonly tls: { readonly cert: string; readonly key: string };
  readonly names: SharedNames;
  readonly acceptEdge: (socket: Socket) => void;
  readonly acceptApi: (socket: Socket) => void;
  readonly log: Log;
}

/** For the client hello, and for the handshakes of the router. */
const HELLO_MS = 10_000;

export class SharedPort {
  readonly tlsPort: TlsPort;
  /** Where the gateway takes what is of no other part. */
  readonly forGateway: SharedPlace;

  private constructor(tlsPort: TlsPort, forGateway: SharedPlace) {
    this.tlsPort = tlsPort;
    this.forGateway = forGateway;
  }

  static async open({ host, port, tls, log, ...parts }: SharedPortOptions): Promise<SharedPort> {
    const gateway: { take?: (socket: Socket) => void } = {};
    const others = (hello: ClientHello | undefined, socket: Socket): boolean => {
      const part = partOf(hello, parts.names);
      const take = { edge: parts.acceptEdge, api: parts.acceptApi, gateway: gateway.take }[part];
      take?.(socket);
      return take !== undefined;
    };
    const identity = { cert: tls.cert, key: tls.key, ca: tls.cert };
    const tlsPort = await TlsPort.open({
      host,
      port,
      tls: { default: identity, alternates: [] },
      handshakeTimeoutMs: HELLO_MS,
      place: '--https-port',
      others,
      log,
    });
    return new SharedPort(tlsPort, {
      port: tlsPort.port,
      follow: (take) => {
        gateway.take = take;
        return () => delete gateway.take;
      },
    });
  }

  close(): Promise<void> {
    return this.tlsPort.close();
  }
}

/** The part that serves a connection; undefined stands for bytes that are no client hello. */
export function partOf(
  hello: ClientHello | undefined,
  { edge, api }: SharedNames,
): 'edge' | 'api' | 'gateway' {
  if (hello === undefined) return 'gateway';
  const name = hello.serverName?.toLowerCase().replace(/\.$/, '');
  // Clients of an address send no name, and shares have names.
  if (name === undefined) return edge.some((host) => isIP(host) !== 0) ? 'edge' : 'gateway';
  if (edge.includes(name)) return 'edge';
  return api.includes(name) ? 'api' : 'gateway';
}

/**
 * The names of the parts. Those of the Management API are without wildcards, which may stand for shares, and without those
 * of the edge API. Throws `one-port-names` if there were some and none remains.
 */
export function sharedNamesOf(advertised: readonly string[], apiNames: readonly string[]): SharedNames {
  const edge = advertised.map((host) => host.toLowerCase());
  if (apiNames.length === 0) return { edge, api: [] };
  const api = apiNames
    .map((name) => name.toLowerCase())
    .filter((name) => !name.startsWith('*') && !edge.includes(name));
  if (api.length > 0) return { edge, api };
  const message =
    'with --one-port, the Management API needs a name of its own: --api-name or --api-cert names no host besides those of --advertise and wildcards';
  throw new FrontdoorError('invalid', 'one-port-names', message);
}
