/**
 * One connection to a private service. Plain TCP is read into one buffer that all connections share: measured cheaper than a
 * new 64 KiB block and a stream event per read. TLS uses the stream, which has its own buffers. Callbacks only, because this
 * is the data path.
 */
import type { LookupAddress } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { definedFields, keptBytes } from '#base';
import { isAllowedPort, isAllowedAddress, type AllowedNetwork } from '#domain';
import { DEFAULT_TARGET_TLS, type TargetTls } from '#domain/upstream';
import { failAlone, memoryShares, readDirectly } from '#net';
import { LEAST_PART_BYTES, SharedBytes } from '#wire/xgress';
import type { AgentTarget, TargetAddress } from '../target-address.ts';
import { handshakeFault, securityFault, type TargetClient } from './target-certificate.ts';
import type { TargetResolver } from './target-resolver.ts';

const READ_BUFFER_BYTES = 64 * 1024;
/** How many bytes may wait in the socket before the circuit is paused; fewer when many sockets are slow. */
const WRITE_MARK_BYTES = 256 * 1024;
/** Bytes that wait in the sockets of all connections. */
const unsent = new SharedBytes(memoryShares.unsentBytes);
const KEEP_ALIVE_MS = 60_000;
const sharedReadBuffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);

export type TargetFailureCode =
  | 'refused'
  | 'timeout'
  | 'unreachable'
  | 'unresolved'
  | 'tls'
  | 'not-allowed'
  | 'closed';

/** Why the private service could not be reached. `message` is for its owner and contains no secrets. */
export class TargetFailure extends Error {
  readonly code: TargetFailureCode;

  constructor(code: TargetFailureCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'TargetFailure';
    this.code = code;
  }
}

export interface TargetConnectOptions {
  readonly target: TargetAddress;
  /** Set if the target was not chosen by this agent's operator: only these addresses may be connected to. */
  readonly only?: readonly AllowedNetwork[] | undefined;
  readonly resolver: TargetResolver;
  /** For connecting and the TLS handshake together. */
  readonly timeoutMs: number;
  /** How the certificate of an https target is verified. */
  readonly tls?: TargetTls;
  /** The client certificate for an https target that asks for one. */
  readonly client?: TargetClient | undefined;
}

/** A connection to a service, or one that a client opened. The handlers must be set inside `onOpen`, before the next tick. */
export class TargetConnection {
  /**
   * Bytes of the service. The view may be kept, unless `lendsViews` is set. Return false to pause until `resume`.
   */
  onData: (view: Uint8Array) => boolean = () => true;
  /** Whether views are valid only during `onData`. */
  readonly lendsViews: boolean;
  onEnd: () => void = () => {};
  onDrain: () => void = () => {};
  /** The last call, once. */
  onClose: (error?: Error) => void = () => {};
  readonly #socket: Socket;
  readonly #plain: boolean;
  #readBuffer = sharedReadBuffer;
  /** Written in this tick, and not yet handed to the socket. */
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  /** Waiting bytes of the socket, as `unsent` counts them. */
  #countedBytes = 0;
  #needsDrain = false;

  constructor(socket: Socket, plain: boolean, lendsViews = false) {
    this.#socket = socket;
    this.#plain = plain;
    this.lendsViews = lendsViews;
    socket.on('drain', () => {
      this.#count(0);
      this.#needsDrain = false;
      this.onDrain();
    });
    socket.on('close', () => this.#count(0));
  }

  /** How many bytes one read takes at most, from the second on. At most 64 KiB, and only where views are lent. */
  set readBytes(bytes: number) {
    this.#readBuffer = sharedReadBuffer.subarray(0, bytes);
  }

  get readBuffer(): Buffer {
    return this.#readBuffer;
  }

  /** Combines the writes of one tick into one system call. Returns false if the caller must wait for `onDrain`. */
  write(view: Uint8Array): boolean {
    if (this.#pending.push(view) === 1 && unflushed.connections.push(this) === 1) queueMicrotask(flushAll);
    this.#pendingBytes += view.length;
    const waitingBytes = this.#socket.writableLength + this.#pendingBytes;
    const isSlow = this.#countedBytes > 0 && unsent.isOverdrawn(waitingBytes);
    if (!isSlow && waitingBytes < WRITE_MARK_BYTES) return true;
    this.#needsDrain = true;
    return false;
  }

  flush(): void {
    const socket = this.#socket;
    const views = this.#pending;
    if (views.length === 0) return;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (socket.destroyed) return;
    // Data that waits for a slow service must not retain the large read buffers it came in.
    const kept = socket.writableLength > 0 ? views.map(keptBytes) : views;
    if (kept.length === 1) {
      socket.write(kept[0]!);
    } else {
      socket.cork();
      for (const view of kept) socket.write(view);
      socket.uncork();
    }
    this.#count(socket.writableLength);
    // The socket emits `drain` only if it was full by its own count.
    if (!this.#needsDrain || socket.writableNeedDrain) return;
    this.#needsDrain = false;
    this.onDrain();
  }

  end(): void {
    this.flush();
    this.#socket.end();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Ends at once with a TCP reset if possible, so that the service cannot take the stream for complete. */
  abort(): void {
    const socket = this.#socket;
    // A reset after the end was written fails inside Node and leaks the descriptor.
    const ending = socket.writableEnded && !socket.writableFinished;
    if (this.#plain && !socket.destroyed && !ending) socket.resetAndDestroy();
    else socket.destroy();
  }

  /** Aborts when nothing moves for this time. */
  closeWhenIdle(timeoutMs: number): void {
    this.#socket.setTimeout(timeoutMs, () => this.#socket.destroy());
  }

  #count(bytes: number): void {
    if (bytes === this.#countedBytes) return;
    unsent.count(this.#countedBytes, bytes);
    this.#countedBytes = bytes;
  }
}

/** Wraps a connection that a client opened and that is paused; it is read from `resume` on. */
export function acceptedConnection(socket: Socket): TargetConnection {
  const connection = new TargetConnection(socket, true);
  let failure: Error | undefined;
  readDirectly(socket, (chunk) => {
    if (!connection.onData(chunk)) socket.pause();
  });
  socket.on('end', () => connection.onEnd());
  socket.on('error', (error) => (failure = error));
  socket.on('close', () => connection.onClose(failure));
  return connection;
}

/** One callback serves all connections that were written to in the tick. */
const unflushed: { connections: TargetConnection[] } = { connections: [] };

function flushAll(): void {
  const { connections } = unflushed;
  // Setting the length to 0 is a call into V8's C++ code.
  unflushed.connections = [];
  for (const connection of connections) {
    try {
      connection.flush();
    } catch (error) {
      const fail = (): void => connection.abort();
      failAlone({ kind: 'connection', id: 'to a private service', fail }, error);
    }
  }
}

/** Calls exactly one of the two, later. The returned function cancels (then neither is called). */
export function connectTarget(
  options: TargetConnectOptions,
  onOpen: (connection: TargetConnection) => void,
  onFailed: (failure: TargetFailure) => void,
): () => void {
  const { target, only, timeoutMs } = options;
  const refused = only === undefined ? undefined : refusalOf(target, only);
  if (refused !== undefined) return failLater(refused, onFailed);
  const plain = !target.secure;
  const opened: Opened = { connection: undefined };
  const socket = plain ? plainSocket(options, opened) : tlsSocket(options);

  let shaking = false;
  if (!plain) socket.once('connect', () => (shaking = true));
  let failure: TargetFailure | undefined;
  let settled = false;
  const fail = (why: TargetFailure): void => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    socket.destroy();
    onFailed(why);
  };
  const timer = setTimeout(() => {
    fail(new TargetFailure('timeout', `no connection to ${target.text} within ${timeoutMs} ms`));
  }, timeoutMs);
  socket.on('error', (error: NodeJS.ErrnoException) => {
    failure = failureOf(error, target, shaking);
    fail(failure);
  });
  socket.on('close', () => {
    fail(new TargetFailure('closed', `${target.text} closed the connection`));
    opened.connection?.onClose(failure);
  });
  socket.once(plain ? 'connect' : 'secureConnect', () => {
    if (settled) return;
    const fault = socket instanceof TLSSocket ? securityFault(socket, target, options.tls) : undefined;
    if (fault !== undefined) return fail(new TargetFailure('tls', fault));
    settled = true;
    clearTimeout(timer);
    options.resolver.answering.answered(target.text, socket.remoteAddress);
    const open = new TargetConnection(socket, plain, plain);
    opened.connection = open;
    socket.on('end', () => open.onEnd());
    onOpen(open);
    if (!plain) {
      readDirectly(socket, (chunk) => {
        if (!open.onData(chunk)) socket.pause();
      });
    }
  });
  return () => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    socket.destroy();
  };
}

/** The connection of a socket, once there is one. */
interface Opened {
  connection: TargetConnection | undefined;
}

function plainSocket(options: TargetConnectOptions, opened: Opened): Socket {
  return connectTcp({
    ...socketOptionsOf(options),
    onread: {
      buffer: () => opened.connection?.readBuffer ?? sharedReadBuffer,
      callback: (length) => {
        const { connection } = opened;
        if (connection === undefined) return false;
        return connection.onData(sharedReadBuffer.subarray(0, length));
      },
    },
  });
}

/** `securityFault` judges the certificate, so that a failure names what the service presented. */
function tlsSocket(options: TargetConnectOptions): Socket {
  const { client, tls: { tlsCa, tlsServerName } = DEFAULT_TARGET_TLS } = options;
  const { host, isHttp2 } = options.target;
  return connectTls(
    definedFields({
      ...socketOptionsOf(options),
      ALPNProtocols: [isHttp2 ? 'h2' : 'http/1.1'],
      servername: tlsServerName ?? (isIP(host) === 0 ? host : undefined),
      ca: tlsCa ?? undefined,
      ...client,
      rejectUnauthorized: false,
    }),
  );
}

function socketOptionsOf(options: TargetConnectOptions) {
  const { host, port } = options.target;
  return {
    host,
    port,
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
    // It emits `drain` from here on, so that a circuit may be paused earlier than at the mark.
    writableHighWaterMark: LEAST_PART_BYTES,
    lookup: lookupFor(options),
  };
}

/** Returns what cancels the call. */
function failLater(failure: TargetFailure, onFailed: (failure: TargetFailure) => void): () => void {
  let cancelled = false;
  process.nextTick(() => {
    if (!cancelled) onFailed(failure);
  });
  return () => {
    cancelled = true;
  };
}

type TargetWay = Pick<TargetConnectOptions, 'target' | 'only' | 'resolver'>;

/** How a target is reached, or why it certainly is not. `isOwn`: the operator of this agent chose it. */
export function wayTo(
  target: AgentTarget,
  isOwn: boolean,
  { allowTargets, resolver }: Pick<TargetWay, 'resolver'> & { allowTargets: readonly AllowedNetwork[] },
): TargetWay | { readonly problem: string } {
  if (!('host' in target)) return { problem: `${target.text} is not the address of a server` };
  const only = isOwn ? undefined : allowTargets;
  const refused = only && refusalOf(target, only);
  return refused === undefined ? { target, only, resolver } : { problem: refused.message };
}

/** Refuses before resolving and connecting, if the refusal is certain. */
export function refusalOf(target: TargetAddress, only: readonly AllowedNetwork[]): TargetFailure | undefined {
  const literal = isIP(target.host) !== 0;
  const possible = literal
    ? isAllowedAddress(only, target.host, target.port)
    : isAllowedPort(only, target.port);
  return possible ? undefined : notAllowed(target);
}

function notAllowed(target: TargetAddress): TargetFailure {
  return new TargetFailure(
    'not-allowed',
    `${target.text} was set through the API and is not allowed on this agent; start it with --allow-target CIDR:PORTS`,
  );
}

/** The name is resolved once, every address is checked, and only a checked address is connected to. */
function lookupFor(options: TargetConnectOptions): LookupFunction {
  return (_host, { all }, callback) => {
    resolveTarget(options, (error, addresses) => {
      const [first] = addresses;
      if (error !== null || first === undefined) callback(error, '', 4);
      else if (all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}

/** Passes the addresses that may be connected to, at least one, or an error for `failureOf`. */
export function resolveTarget(
  { target, only, resolver }: TargetWay,
  answer: (error: Error | null, addresses: readonly LookupAddress[]) => void,
): void {
  resolver.resolve(target.host, (error, found) => {
    const addresses =
      only === undefined
        ? found
        : found.filter(({ address }) => isAllowedAddress(only, address, target.port));
    if (error === null && addresses.length === 0) answer(notAllowed(target), []);
    else answer(error, resolver.answering.inOrder(target.text, addresses));
  });
}

/** `shaking`: the error came during the TLS handshake. */
export function failureOf(
  error: NodeJS.ErrnoException,
  target: TargetAddress,
  shaking: boolean,
): TargetFailure {
  if (error instanceof TargetFailure) return error;
  const { code = '' } = error;
  const cause = { cause: error };
  if (code === 'ECONNREFUSED')
    return new TargetFailure('refused', `connection refused by ${target.text}`, cause);
  if (code === 'ETIMEDOUT')
    return new TargetFailure('timeout', `no connection to ${target.text} in time`, cause);
  if (error.syscall === 'getaddrinfo') {
    return new TargetFailure('unresolved', `the name ${target.host} does not resolve (${code})`, cause);
  }
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return new TargetFailure('closed', `${target.text} reset the connection`, cause);
  }
  if (shaking) return new TargetFailure('tls', handshakeFault(target.text, code || error.message), cause);
  return new TargetFailure(
    'unreachable',
    `cannot connect to ${target.text}: ${code || error.message}`,
    cause,
  );
}
