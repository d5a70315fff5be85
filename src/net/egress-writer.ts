/**
 * Writes bytes to a TCP server that another party named, as the egress client fetches: allowed addresses only, the certificate
 * verified for the name, one deadline. The server takes everything and closes the connection, or the write has failed.
 */
import { once } from 'node:events';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { formatHostPort, FrontdoorError } from '#base';
import { egressAddresses, egressFailure, type EgressAddress, type EgressRules } from './egress-address.ts';
import { TLS_MIN_VERSION } from './tls-policy.ts';
import { systemAnchors } from './trust-anchors.ts';

export interface EgressWriterOptions extends EgressRules {
  /** PEM trust anchors that replace the system's. */
  readonly ca?: string | undefined;
  /** From the look-up to the end of the connection. */
  readonly timeoutMs: number;
}

export interface EgressWriterTarget {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** Throws `forbidden` if the policy refuses, `timeout`, and `unavailable` if the server did not take it all. */
export async function writeToEgress(
  target: EgressWriterTarget,
  bytes: Uint8Array,
  options: EgressWriterOptions,
  ending: AbortSignal,
): Promise<void> {
  const { host, port, isTls } = target;
  const shown = `${isTls ? 'tls' : 'tcp'}://${formatHostPort(host, port)}`;
  const signal = AbortSignal.any([AbortSignal.timeout(options.timeoutMs), ending]);
  let socket: Socket | undefined;
  const onAbort = (): void => void socket?.destroy(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const server = { host, port, isPlain: !isTls, shown };
    const addresses = await egressAddresses(server, options, signal);
    signal.throwIfAborted();
    socket = open(target, addresses, options);
    await once(socket, isTls ? 'secureConnect' : 'connect');
    const closed = once(socket, 'close');
    // An answer of a server is not expected, and not kept.
    socket.resume();
    socket.end(bytes);
    const [hadError] = (await closed) as [boolean];
    if (hadError || socket.bytesWritten < bytes.length || !socket.writableFinished)
      throw new FrontdoorError('unavailable', 'unreachable', `${shown} closed the connection early`);
  } catch (error) {
    throw egressFailure(shown, signal.aborted ? signal.reason : error);
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket?.destroy();
  }
}

function open(
  { host, port, isTls }: EgressWriterTarget,
  addresses: readonly EgressAddress[],
  { ca }: EgressWriterOptions,
): Socket {
  const lookup: LookupFunction = (_host, options, answer) => {
    const [first] = addresses;
    if (options.all === true) answer(null, [...addresses]);
    else answer(null, first!.address, first!.family);
  };
  const socket = isTls
    ? connectTls({
        host,
        port,
        lookup,
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ca: ca ?? systemAnchors(),
        minVersion: TLS_MIN_VERSION,
      })
    : connect({ host, port, lookup });
  // It may fail while nothing else listens.
  socket.on('error', () => {});
  return socket;
}
