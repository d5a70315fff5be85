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

/** A proxy without a server behind it accepts a connection, and ends it within this time, without having read. */
const SETTLING_MS = 250;

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
    // It is awaited below; until then the socket may fail.
    closed.catch(() => {});
    // An answer of a server is not expected, and not kept.
    socket.resume();
    await written(socket, bytes);
    // Afterwards nobody can know whether the server closed because it had everything.
    if (await endsWithin(socket, SETTLING_MS))
      throw new FrontdoorError('unavailable', 'unreachable', `${shown} closed the connection early`);
    socket.end();
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

/** Resolves when the system has taken the bytes, or the socket is over. */
function written(socket: Socket, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', resolve);
    socket.write(bytes, () => resolve());
  });
}

/** Whether the other side ends the connection in this time, or has ended it. */
function endsWithin(socket: Socket, ms: number): Promise<boolean> {
  if (socket.readableEnded || socket.destroyed) return Promise.resolve(true);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    const onEnd = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    socket.once('end', onEnd);
    socket.once('close', onEnd);
  });
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
