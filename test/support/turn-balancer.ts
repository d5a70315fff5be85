/** A load balancer that passes TLS through, as HAProxy in mode tcp: each connection goes to the next address in turn. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

export interface TurnBalancer {
  /** Connections that each address got. */
  readonly counts: readonly number[];
  close(): Promise<void>;
}

/** Listens at 127.0.0.1 and connects to the same port of each of `hosts`. */
export async function openTurnBalancer(port: number, hosts: readonly string[]): Promise<TurnBalancer> {
  const counts = hosts.map(() => 0);
  const near = new Set<Socket>();
  let turn = 0;
  const server: Server = createServer((socket) => {
    const at = turn++ % hosts.length;
    counts[at]! += 1;
    near.add(socket);
    socket.once('close', () => near.delete(socket));
    const far = connect({ host: hosts[at]!, port: (server.address() as AddressInfo).port });
    pipeline(socket, far, socket, () => {});
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    counts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of near) socket.destroy();
      }),
  };
}
