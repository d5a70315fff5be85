/**
 * The servers that accept connections at one address. Node accepts one connection in a turn of the event loop for each
 * server, so that under load each turn would begin one request, whose frames share no write with others. Several servers on
 * copies of one listening socket accept several (ADR 0052).
 */
import { lookup } from 'node:dns/promises';
import { BoundSocket, createServer, type ServerOpts, type Server, type Socket } from 'node:net';
import process from 'node:process';
import type { Log } from '#base';
import { connectionFrom, failAlone, listenFailure, listenOn, portOf } from '#net';

/** Length of the kernel's accept queue. */
const BACKLOG = 1_024;
const MAX_LAST_TURNS = 4 * BACKLOG;
/** Sixteen accept hardly more than eight, and each costs a failed call for every connection that comes alone. */
const SERVERS = 8;

/** `F_DUPFD_CLOEXEC` of Linux: a copy of a descriptor that programs started by this one do not inherit. */
const COPY_FOR_ITSELF = 1_030;
const SIGNATURE = { fcntl: { arguments: ['i32', 'i32', 'i32'], return: 'i32' } } as const;

export interface ListenAddress {
  /** '' for all interfaces. */
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** An open socket that is bound to host and port, used instead of a new one. */
  readonly fd?: number;
}

export class AcceptingServers {
  readonly port: number;
  readonly #servers: readonly Server[];
  readonly #accepted: () => number;

  private constructor(port: number, servers: readonly Server[], accepted: () => number) {
    this.port = port;
    this.#servers = servers;
    this.#accepted = accepted;
  }

  /**
   * Rejects with `port-taken` or `cannot-listen`. Later errors are logged. An exception of `onSocket` ends that connection; listeners
   * that it adds contain their own.
   */
  static async open(
    address: ListenAddress,
    options: ServerOpts,
    log: Log,
    onSocket: (socket: Socket) => void,
  ): Promise<AcceptingServers> {
    const { host, port } = address;
    const first = address.fd ?? (await bind(address));
    const fd = typeof first === 'number' ? first : first.fd();
    const sockets = [first, ...copiesOf(fd, SERVERS - 1)];
    let accepted = 0;
    const servers = sockets.map(() =>
      createServer(options, (socket) => {
        accepted += 1;
        try {
          onSocket(socket);
        } catch (error) {
          failAlone(connectionFrom(socket, log), error);
        }
      }),
    );
    await Promise.all(
      servers.map((server, index) =>
        listenOn(server, { host, port, bound: sockets[index], backlog: BACKLOG }, log),
      ),
    );
    return new AcceptingServers(portOf(servers[0]!), servers, () => accepted);
  }

  /**
   * Stops accepting connections when the kernel's queue is empty; those in it would be reset. A turn of the event loop in
   * which none was accepted means that it is.
   */
  close(): void {
    let before = this.#accepted();
    let turns = 0;
    const look = (): void => {
      turns += 1;
      const accepted = this.#accepted();
      if (turns > 1 && (accepted === before || turns > MAX_LAST_TURNS)) {
        for (const server of this.#servers) server.close();
      } else {
        before = accepted;
        setImmediate(look);
      }
    };
    setImmediate(look);
  }
}

async function bind({ host, port }: ListenAddress): Promise<BoundSocket> {
  try {
    return new BoundSocket({ ...(host !== '' && { host: (await lookup(host)).address }), port });
  } catch (error) {
    throw listenFailure(error, { host, port });
  }
}

/** Fewer where the system has no descriptor left; none where it is not Linux or the runtime has no foreign calls. */
function copiesOf(fd: number, count: number): number[] {
  const copies: number[] = [];
  if (process.platform !== 'linux') return copies;
  try {
    const calls = process.getBuiltinModule('node:ffi')?.dlopen(null, SIGNATURE).functions;
    while (copies.length < count) {
      const copy = calls?.fcntl(fd, COPY_FOR_ITSELF, 0) ?? -1;
      if (copy < 0) break;
      copies.push(copy);
    }
  } catch {
    // Without the call, one server accepts.
  }
  return copies;
}
