import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** An echo service that counts how its connections ended. */
export class EchoService {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  endedCount = 0;
  brokenCount = 0;

  private constructor() {
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#open.add(socket);
      let isBroken = false;
      socket.on('error', () => (isBroken = true));
      socket.on('close', () => {
        this.#open.delete(socket);
        if (isBroken) this.brokenCount += 1;
        else this.endedCount += 1;
      });
      socket.pipe(socket);
    });
  }

  static async start(): Promise<EchoService> {
    const service = new EchoService();
    service.#server.listen(0, '127.0.0.1');
    await once(service.#server, 'listening');
    return service;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get openCount(): number {
    return this.#open.size;
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
    if (this.#server.listening) await once(this.#server, 'close');
  }
}
