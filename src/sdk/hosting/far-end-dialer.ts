/**
 * Connects to the far end of a hosted circuit: TCP, UDP, or TCP through an HTTP proxy. A forwarded name is resolved once,
 * and only the addresses that the config allows are connected to. A proxy resolves names itself, and answers for what it
 * reaches.
 */
import type { LookupAddress } from 'node:dns';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { FrontdoorError } from '#base';
import {
  dialerThrough,
  dialFailure,
  dialTimeoutMs,
  SERVICE_SOCKET_OPTIONS,
  whenEstablished,
  type DialLimits,
} from '#net';
import { AnsweringAddresses, type HostLookup } from '#net/names';
import type { FarEnd, SourceAddress } from './far-end-policy.ts';
import type { HostTerminatorConfig } from './host-config.ts';

export interface FarEndDial {
  readonly farEnd: FarEnd;
  readonly source: SourceAddress | undefined;
  readonly proxy: HostTerminatorConfig['proxy'];
  readonly connectTimeoutMs: number;
  readonly dial: DialLimits;
}

/** Where a connection of datagrams leads, and from which local end. */
export interface DatagramTarget {
  readonly network: 'udp';
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly localAddress?: string;
  readonly localPort?: number;
}

export interface FarEndDialerOptions<Datagrams> {
  readonly udp: { dial(target: DatagramTarget): Promise<Datagrams> };
  readonly lookup: HostLookup;
}

/** If a name has more addresses, only these are tried. */
const MAX_TRIED_ADDRESSES = 8;

export class FarEndDialer<Datagrams> {
  readonly #udp: FarEndDialerOptions<Datagrams>['udp'];
  readonly #lookup: HostLookup;
  readonly #answering = new AnsweringAddresses();

  constructor({ udp, lookup }: FarEndDialerOptions<Datagrams>) {
    this.#udp = udp;
    this.#lookup = lookup;
  }

  /** Rejects with a `FrontdoorError` whose text contains no address that the dialer did not send. */
  async dial(request: FarEndDial): Promise<Socket | Datagrams> {
    try {
      return await this.#connect(request);
    } catch (error) {
      const { source } = request;
      if (source !== undefined && isNoOwnAddress(error)) throw notLocal(source);
      throw error;
    }
  }

  async #connect(request: FarEndDial): Promise<Socket | Datagrams> {
    const { farEnd, source, proxy, connectTimeoutMs } = request;
    const { signal } = request.dial;
    const deadlineMs = performance.now() + dialTimeoutMs(request.dial, connectTimeoutMs);
    const dial = { deadlineMs, signal };
    if (proxy !== undefined) return this.#throughProxy(farEnd, source, proxy, dial);
    const addresses = await this.#resolve(farEnd, source, dial);
    if (farEnd.protocol === 'udp') return this.#overUdp(addresses[0]!, farEnd.port, source, dial);
    const lookup: LookupFunction = (_host, options, done) => {
      if (options.all === true) done(null, [...addresses]);
      else done(null, addresses[0]!.address, addresses[0]!.family);
    };
    const socket = connect({
      host: farEnd.host,
      port: farEnd.port,
      lookup,
      ...localEnd(source),
      ...SERVICE_SOCKET_OPTIONS,
    });
    const connected = await whenEstablished(socket, 'connect', dial, 0);
    this.#answering.answered(serviceOf(farEnd), socket.remoteAddress);
    return connected;
  }

  async #overUdp(
    { address: host }: LookupAddress,
    port: number,
    source: SourceAddress | undefined,
    dial: FarEndDial['dial'],
  ): Promise<Datagrams> {
    const { signal } = dial;
    try {
      const timeoutMs = dialTimeoutMs(dial, 0);
      return await this.#udp.dial({ network: 'udp', host, port, timeoutMs, signal, ...localEnd(source) });
    } catch (error) {
      throw dialFailure(error as NodeJS.ErrnoException);
    }
  }

  async #throughProxy(
    { protocol, host, port }: FarEnd,
    source: SourceAddress | undefined,
    proxy: NonNullable<FarEndDial['proxy']>,
    dial: FarEndDial['dial'],
  ): Promise<Socket> {
    if (protocol !== 'tcp') throw misconfigured();
    const late = AbortSignal.timeout(Math.ceil(dialTimeoutMs(dial, 0)));
    const signal = AbortSignal.any([late, dial.signal]);
    // The proxy chooses the source of the connection that the service sees, and so its port.
    const localAddress = source?.host;
    try {
      const socket = await dialerThrough(proxy, 'the config of the service').connect(
        { host, port },
        { localAddress, signal },
      );
      // Nothing was read yet, so that the end of one direction does not close the other.
      socket.allowHalfOpen = true;
      socket.setNoDelay(true);
      socket.setKeepAlive(true, SERVICE_SOCKET_OPTIONS.keepAliveInitialDelay);
      socket.on('error', () => {});
      return socket;
    } catch (error) {
      if (late.aborted) throw timedOut('the proxy did not connect to the service in time');
      if (dial.signal.aborted) throw unrouted();
      throw dialFailure(error as NodeJS.ErrnoException);
    }
  }

  /** Returns at least one address, and only those that the circuit may reach. */
  async #resolve(
    farEnd: FarEnd,
    source: SourceAddress | undefined,
    dial: FarEndDial['dial'],
  ): Promise<readonly LookupAddress[]> {
    const { host } = farEnd;
    const literal = isIP(host);
    if (literal !== 0) return [{ address: host, family: literal }];
    const found = await this.#lookUp(host, dial);
    const family = source === undefined ? 0 : isIP(source.host);
    const allowed = found.filter(
      (one) => farEnd.mayReach(one.address) && (family === 0 || one.family === family),
    );
    const ordered = this.#answering.inOrder(serviceOf(farEnd), allowed);
    if (ordered.length > 0) return ordered.slice(0, MAX_TRIED_ADDRESSES);
    const text = `address '${host}' has no address in allowed addresses`;
    throw new FrontdoorError('forbidden', 'far-end-not-allowed', text);
  }

  #lookUp(host: string, dial: FarEndDial['dial']): Promise<readonly LookupAddress[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
    const timer = setTimeout(
      () => reject(timedOut('the name of the service was not resolved in time')),
      dialTimeoutMs(dial, 0),
    );
    const onAbort = (): void => reject(unrouted());
    dial.signal.addEventListener('abort', onAbort);
    this.#lookup(host, { all: true }, (error, addresses = []) => {
      if (error === null) resolve(addresses);
      else reject(dialFailure(error));
    });
    return promise.finally(() => {
      clearTimeout(timer);
      dial.signal.removeEventListener('abort', onAbort);
    });
  }
}

function serviceOf({ host, port }: FarEnd): string {
  return `${host} ${port}`;
}

function localEnd(source: SourceAddress | undefined): { localAddress?: string; localPort?: number } {
  if (source === undefined) return {};
  return source.port === 0
    ? { localAddress: source.host }
    : { localAddress: source.host, localPort: source.port };
}

function isNoOwnAddress(error: unknown): boolean {
  const cause = error instanceof FrontdoorError ? error.cause : undefined;
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRNOTAVAIL';
}

function notLocal({ host }: SourceAddress): FrontdoorError {
  const text = `source address '${host}' is not an address of the hosting machine`;
  return new FrontdoorError('invalid', 'source-not-local', text);
}

function misconfigured(): FrontdoorError {
  const text = 'an HTTP proxy carries no datagrams';
  return new FrontdoorError('invalid', 'misconfigured-terminator', text);
}

function timedOut(text: string): FrontdoorError {
  return new FrontdoorError('timeout', 'dial-timeout', text);
}

function unrouted(): FrontdoorError {
  return new FrontdoorError('conflict', 'unrouted', 'the circuit was unrouted');
}
