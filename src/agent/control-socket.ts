/**
 * The agent's control socket: serves the requests of `#domain`'s agent-socket to processes of the same user. Each
 * connection is served in order, one request at a time; too long, too many or too slow requests end only that
 * connection.
 */
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { LineDecoder } from '#domain';
import {
  AGENT_SOCKET_MAX_REQUEST_BYTES,
  agentEndpoint,
  checkAgentRequest,
  checkSocketPath,
  encodeAgentAnswer,
  type AgentAnswer,
  type AgentRequest,
} from '#domain/agent-shapes';
import { FrontdoorError, type Log, messageOf } from '#base';

export interface ControlSocketOptions {
  readonly path: string;
  /** Throws `FrontdoorError` for expected failures. */
  readonly handle: (request: AgentRequest) => Promise<unknown>;
  readonly log: Log;
  readonly maxConnections?: number;
  /** How long a connection may be silent between requests. */
  readonly idleTimeoutMs?: number;
}

export interface ControlSocket {
  /** Waits up to `graceMs` for pending responses. */
  close(graceMs: number): Promise<void>;
}

const MAX_QUEUED_LINES = 32;

export async function openControlSocket(options: ControlSocketOptions): Promise<ControlSocket> {
  const { path, log, maxConnections = 64 } = options;
  const problem = checkSocketPath(path, process.platform);
  if (problem !== undefined) throw new FrontdoorError('invalid', 'socket-path', problem);
  await clearStaleSocket(path);
  const connections = new Set<ControlConnection>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (connections.size >= maxConnections) {
      log.warn(
        { connections: connections.size },
        'refused a connection to the control socket: too many connections',
      );
      socket.destroy();
      return;
    }
    const connection = new ControlConnection(socket, options);
    connections.add(connection);
    socket.on('close', () => connections.delete(connection));
  });
  await listenPrivately(server, path);
  server.on('error', (error) => log.error({ error: error.message }, 'the control socket failed'));
  return {
    close: async (graceMs) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const connection of connections) connection.finish();
      const timer = setTimeout(() => {
        for (const connection of connections) connection.destroy();
      }, graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

class ControlConnection {
  readonly #socket: Socket;
  readonly #options: ControlSocketOptions;
  readonly #decoder = new LineDecoder(AGENT_SOCKET_MAX_REQUEST_BYTES);
  readonly #lines: string[] = [];
  #busy = false;
  #finishing = false;

  constructor(socket: Socket, options: ControlSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    const { idleTimeoutMs = 60_000 } = options;
    socket.setTimeout(idleTimeoutMs, () => {
      if (!this.#busy) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('end', () => this.finish());
  }

  /** Closes once all received requests are answered. */
  finish(): void {
    this.#finishing = true;
    if (!this.#busy) this.#socket.end(() => this.#socket.destroy());
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    this.#lines.push(...this.#decoder.push(chunk));
    if (this.#decoder.overflowed || this.#lines.length > MAX_QUEUED_LINES) {
      this.#options.log.warn(
        {},
        'closed a control connection: its request is too long, or it has too many requests',
      );
      this.#lines.length = 0;
      this.#fail(
        0,
        new FrontdoorError('tooLarge', 'request-too-large', 'the request is too long or too many wait'),
      );
      this.#socket.end(() => this.#socket.destroy());
      return;
    }
    void this.#work();
  }

  async #work(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    let line = this.#lines.shift();
    while (line !== undefined && !this.#socket.destroyed) {
      await this.#answer(line);
      line = this.#lines.shift();
    }
    this.#busy = false;
    if (this.#finishing) this.finish();
  }

  async #answer(line: string): Promise<void> {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.#fail(
        0,
        new FrontdoorError('invalid', 'invalid-request', 'a request is one JSON object on one line'),
      );
      return;
    }
    const checked = checkAgentRequest(value);
    if ('problem' in checked) {
      this.#fail(checked.id, new FrontdoorError('invalid', 'invalid-request', checked.problem));
      return;
    }
    try {
      const result = await this.#options.handle(checked.request);
      this.#send(checked.id, { ok: true, result });
    } catch (error) {
      this.#fail(checked.id, error);
    }
  }

  #fail(id: number, error: unknown): void {
    let failure = {
      kind: 'internal' as FrontdoorError['kind'],
      code: 'internal',
      message: 'the agent failed; see its log',
    };
    if (error instanceof FrontdoorError)
      failure = { kind: error.kind, code: error.code, message: error.message };
    else this.#options.log.error({ error: messageOf(error) }, 'a request on the control socket failed');
    this.#send(id, { ok: false, error: failure });
  }

  #send(id: number, answer: AgentAnswer): void {
    if (!this.#socket.destroyed && this.#socket.writable) this.#socket.write(encodeAgentAnswer(id, answer));
  }
}

/** Removes the socket of an agent that no longer runs. Throws if an agent runs, or the file is not a socket. */
async function clearStaleSocket(path: string): Promise<void> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isSocket()) {
    throw new FrontdoorError(
      'conflict',
      'socket-path-taken',
      `${path} exists and is not a socket; choose another with --socket`,
    );
  }
  const alive = await new Promise<boolean>((resolve) => {
    const probe = connect({ path });
    probe.on('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.on('error', () => resolve(false));
  });
  if (alive) {
    throw new FrontdoorError(
      'conflict',
      'socket-in-use',
      `another program listens on ${path}; choose another with --socket`,
    );
  }
  rmSync(path, { force: true });
}

/** Ensures that other users cannot connect, not even between creating the socket and setting its mode. */
async function listenPrivately(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const message = `cannot listen on ${path}: ${error.code ?? error.message}`;
      reject(new FrontdoorError('unavailable', 'socket-listen', message, { cause: error }));
    });
    const before = process.umask(0o177);
    try {
      server.listen({ path: agentEndpoint(path, process.platform) }, resolve);
    } finally {
      process.umask(before);
    }
  });
  if (process.platform !== 'win32') chmodSync(path, 0o600);
}
