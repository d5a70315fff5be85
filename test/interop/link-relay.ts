/** Passes bytes on between the dialer and the listener of a link, each connection of which a test may cut. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class LinkRelay {
  readonly #server: Server;
  readonly #target: number;
  /** The open connections of the dialer, oldest first. */
  readonly #dialed: Socket[] = [];

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((dialed) => this.#onConnection(dialed));
  }

  static async open(target: number): Promise<LinkRelay> {
    const relay = new LinkRelay(target);
    await new Promise<void>((resolve) => relay.#server.listen(0, '127.0.0.1', resolve));
    return relay;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get count(): number {
    return this.#dialed.length;
  }

  /** Destroys the connection at `index`; both ends see it closed. */
  cut(index: number): void {
    this.#dialed.splice(index, 1)[0]!.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    while (this.count > 0) this.cut(0);
    await closed;
  }

  #onConnection(dialed: Socket): void {
    this.#dialed.push(dialed);
    const listening = connect(this.#target, '127.0.0.1');
    for (const [from, to] of [
      [dialed, listening],
      [listening, dialed],
    ] as const) {
      from.on('error', () => {});
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
    dialed.on('close', () => {
      const index = this.#dialed.indexOf(dialed);
      if (index >= 0) this.#dialed.splice(index, 1);
    });
  }
}
