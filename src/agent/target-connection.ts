/**
 * One connection to a private service. Plain TCP is read into one buffer that all connections share and copied out
 * small: measured cheaper than a fresh 64 KiB block and a stream event for each read. TLS goes through the stream,
 * which hands out its own buffers. Callbacks only: this is the data path.
 */
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { keptBytes } from '#base';
import { isAllowedPort, isAllowedAddress, type AllowedNetwork } from '#domain';
import type { TargetAddress } from './target-address.ts';
import type { TargetResolver } from './target-resolver.ts';

/**
 * Four whole payloads of a circuit with the usual id: each fills a TLS record, and a full read leaves no small rest that
 * would put all that follow across two records. With 64 KiB the router took a quarter more CPU for a download.
 */
const READ_BUFFER_BYTES = 4 * 16_284;
/** How much may wait in the socket before the circuit is told to stop. */
const WRITE_MARK_BYTES = 256 * 1024;
const KEEP_ALIVE_MS = 60_000;
const sharedReadBuffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);

export type TargetFailureCode =
  'refused' | 'timeout' | 'unreachable' | 'unresolved' | 'tls' | 'not-allowed' | 'closed';

/** Why the private service could not be reached; `message` is for its owner and names no secrets. */
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
  /** Set when somebody else than this agent's operator chose the target: only these addresses are connected to. */
  readonly only?: readonly AllowedNetwork[] | undefined;
  readonly resolver: TargetResolver;
  /** For connecting and the TLS handshake together. */
  readonly timeoutMs: number;
  /** CA certificates (PEM) for https targets, beside none other; absent: the system's. */
  readonly ca?: string | undefined;
  /** False: TCP only, no TLS even for an https target (health checks). */
  readonly handshake?: boolean;
}

/** Set the handlers inside `onOpen`, before the next tick. */
export class TargetConnection {
  /** Bytes of the service; the view may be kept. False: stop until `resume`. */
  onData: (view: Uint8Array) => boolean = () => true;
  onEnd: () => void = () => {};
  onDrain: () => void = () => {};
  /** Once, last. */
  onClose: (error?: Error) => void = () => {};
  readonly #socket: Socket;
  readonly #plain: boolean;
  /** Written in this tick, and not yet handed to the socket. */
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #owesDrain = false;

  constructor(socket: Socket, plain: boolean) {
    this.#socket = socket;
    this.#plain = plain;
    socket.on('drain', () => {
      this.#owesDrain = false;
      this.onDrain();
    });
  }

  /** Batches what one tick brings into one system call. False: wait for `onDrain`. */
  write(view: Uint8Array): boolean {
    if (this.#pending.push(view) === 1 && unflushed.push(this) === 1) process.nextTick(flushAll);
    this.#pendingBytes += view.length;
    if (this.#socket.writableLength + this.#pendingBytes < WRITE_MARK_BYTES) return true;
    this.#owesDrain = true;
    return false;
  }

  flush(): void {
    const socket = this.#socket;
    const views = this.#pending;
    if (views.length === 0) return;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (socket.destroyed) return;
    // What waits for a slow service must not keep the reads that brought it.
    const kept = socket.writableLength > 0 ? views.map(keptBytes) : views;
    if (kept.length === 1) {
      socket.write(kept[0]!);
    } else {
      socket.cork();
      for (const view of kept) socket.write(view);
      socket.uncork();
    }
    // The socket tells only if it was full by its own count.
    if (!this.#owesDrain || socket.writableNeedDrain) return;
    this.#owesDrain = false;
    this.onDrain();
  }

  end(): void {
    this.flush();
    this.#socket.end();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Ends at once with a reset where TCP allows, so that the service cannot take the stream for complete. */
  abort(): void {
    const socket = this.#socket;
    // A reset while the end is on its way fails inside Node and loses the descriptor.
    const ending = socket.writableEnded && !socket.writableFinished;
    if (this.#plain && !socket.destroyed && !ending) socket.resetAndDestroy();
    else socket.destroy();
  }

  /** Gives up when nothing moves for this long. */
  closeWhenIdle(timeoutMs: number): void {
    this.#socket.setTimeout(timeoutMs, () => this.#socket.destroy());
  }
}

/** One callback serves all connections that the tick wrote to. */
const unflushed: TargetConnection[] = [];

function flushAll(): void {
  for (let i = 0; i < unflushed.length; i += 1) unflushed[i]!.flush();
  unflushed.length = 0;
}

function copyOfRead(length: number): Buffer {
  const copy = Buffer.allocUnsafe(length);
  sharedReadBuffer.copy(copy, 0, 0, length);
  return copy;
}

/** Calls exactly one of the two, later; the returned function gives up (then neither is called). */
export function connectTarget(
  options: TargetConnectOptions,
  onOpen: (connection: TargetConnection) => void,
  onFailed: (failure: TargetFailure) => void,
): () => void {
  const { target, only, timeoutMs } = options;
  const refused = only === undefined ? undefined : refusalOf(target, only);
  if (refused !== undefined) {
    let cancelled = false;
    process.nextTick(() => {
      if (!cancelled) onFailed(refused);
    });
    return () => {
      cancelled = true;
    };
  }
  const plain = !target.secure || options.handshake === false;
  let connection: TargetConnection | undefined;
  const common = {
    host: target.host,
    port: target.port,
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
    highWaterMark: WRITE_MARK_BYTES,
    lookup: lookupFor(options),
  };
  const socket = plain
    ? connectTcp({
        ...common,
        onread: {
          buffer: sharedReadBuffer,
          callback: (length) => connection?.onData(copyOfRead(length)) ?? false,
        },
      })
    : connectTls({
        ...common,
        ALPNProtocols: ['http/1.1'],
        ...(isIP(target.host) === 0 ? { servername: target.host } : {}),
        ...(options.ca === undefined ? {} : { ca: options.ca }),
      });

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
    connection?.onClose(failure);
  });
  socket.once(plain ? 'connect' : 'secureConnect', () => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    const open = new TargetConnection(socket, plain);
    connection = open;
    socket.on('end', () => open.onEnd());
    onOpen(open);
    if (!plain) {
      socket.on('data', (chunk: Buffer) => {
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

/** Says no before anything is resolved or connected, where that is already sure. */
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

/** The name is resolved once, every address checked, and only a checked address is connected to. */
function lookupFor({ target, only, resolver }: TargetConnectOptions): LookupFunction {
  return (host, options, callback) => {
    resolver.resolve(host, (error, found) => {
      if (error !== null) {
        callback(error, '', 4);
        return;
      }
      const addresses =
        only === undefined
          ? [...found]
          : found.filter((each) => isAllowedAddress(only, each.address, target.port));
      const [first] = addresses;
      if (first === undefined) callback(notAllowed(target), '', 4);
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function failureOf(error: NodeJS.ErrnoException, target: TargetAddress, shaking: boolean): TargetFailure {
  if (error instanceof TargetFailure) return error;
  const { code = '' } = error;
  const cause = { cause: error };
  if (code === 'ECONNREFUSED')
    return new TargetFailure('refused', `connection refused by ${target.text}`, cause);
  if (code === 'ETIMEDOUT')
    return new TargetFailure('timeout', `no connection to ${target.text} in time`, cause);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new TargetFailure('unresolved', `the name ${target.host} does not resolve (${code})`, cause);
  }
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return new TargetFailure('closed', `${target.text} reset the connection`, cause);
  }
  if (shaking)
    return new TargetFailure('tls', `TLS to ${target.text} failed: ${code || error.message}`, cause);
  return new TargetFailure(
    'unreachable',
    `cannot connect to ${target.text}: ${code || error.message}`,
    cause,
  );
}
