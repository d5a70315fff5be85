/** Relays bytes between a dialer and a listener. Tests can cut or hold its connections. */
import * as net from 'node:net';

export class TcpRelay {
  readonly #server: net.Server;
  readonly #target: number;
  readonly #pairs: { readonly near: net.Socket; readonly far: net.Socket }[] = [];
  #isHeld = false;

  private constructor(target: number) {
    this.#target = target;
    this.#server = net.createServer((near) => this.#onConnection(near));
  }

  static async open(target: number): Promise<TcpRelay> {
    const relay = new TcpRelay(target);
    await new Promise<void>((resolve) => void relay.#server.listen(0, '127.0.0.1', resolve));
    return relay;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** Open connections in the order in which they arrived. */
  get count(): number {
    return this.#pairs.filter(({ near }) => !near.destroyed).length;
  }

  cut(index: number): void {
    const pair = this.#pairs.filter(({ near }) => !near.destroyed)[index]!;
    pair.near.destroy();
    pair.far.destroy();
  }

  /** Holds all data, and does not close any connection. */
  hold(): void {
    this.#isHeld = true;
    for (const { near, far } of this.#pairs) {
      near.pause();
      far.pause();
    }
  }

  /** Resumes, including connections that were opened while it was held. */
  release(): void {
    this.#isHeld = false;
    for (const { near, far } of this.#pairs) {
      near.resume();
      far.resume();
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
    await closed;
  }

  #onConnection(near: net.Socket): void {
    const far = net.connect(this.#target, '127.0.0.1');
    this.#pairs.push({ near, far });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (chunk) => {
        if (!to.write(chunk)) from.pause();
      });
      to.on('drain', () => {
        if (!this.#isHeld) from.resume();
      });
      from.on('error', () => {});
      from.on('close', () => to.destroy());
    }
    if (this.#isHeld) this.hold();
  }
}
