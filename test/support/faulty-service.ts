/**
 * Private services that fail as a test wants it: one with a raw connection per request, one with a handler of
 * node:http; both can be stopped and started again on their port.
 */
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.ts';

export interface FaultyService {
  readonly port: number;
  /** URL for `share`. */
  readonly target: string;
  /** Open connections. */
  readonly connections: ReadonlySet<Socket>;
  /** Stops listening and cuts open connections; `start` listens on the same port again. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/**
 * `onRequest` gets the connection each time a request's head is whole (a look that only connects gets nothing), and
 * may answer, reset or keep silent.
 */
export function startRawService(onRequest: (socket: Socket, head: string) => void): Promise<FaultyService> {
  return listen(
    createServer((socket) => {
      let head = '';
      socket.on('error', () => {});
      socket.on('data', (bytes: Buffer) => {
        head += bytes.toString('latin1');
        if (!head.includes('\r\n\r\n')) return;
        const whole = head;
        head = '';
        onRequest(socket, whole);
      });
    }),
  );
}

export function startHttpService(onRequest: RequestListener): Promise<FaultyService> {
  const server = createHttpServer({ requestTimeout: 0 }, onRequest);
  server.on('clientError', (_error, socket) => socket.destroy());
  return listen(server);
}

async function listen(server: Server): Promise<FaultyService> {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  const start = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const port = await freePort();
  await start(port);
  // A test that fails before its end must not hang because of this server.
  server.unref();
  return {
    port,
    target: `http://127.0.0.1:${port}`,
    connections,
    start: () => start(port),
    stop: async () => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}
