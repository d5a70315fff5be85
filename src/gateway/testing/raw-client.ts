/** A client for tests that sends exactly the given bytes and keeps exactly the received ones. */
import { connect, type Socket } from 'node:net';
import { within } from '../../../test/support/deadline.ts';

export class RawClient {
  /** Decoded as Latin-1. */
  received = '';
  isOpen = true;
  /** Whether the connection was reset rather than ended. */
  wasReset = false;
  readonly socket: Socket;
  readonly #watchers = new Set<() => void>();

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.received += bytes.toString('latin1');
      this.#notify();
    });
    socket.on('error', () => {
      this.wasReset = true;
    });
    socket.on('end', () => {
      this.isOpen = false;
      this.#notify();
    });
    socket.on('close', () => {
      this.isOpen = false;
      this.#notify();
    });
  }

  /** `localAddress` is one of 127.0.0.0/8. */
  static async connect(port: number, localAddress?: string): Promise<RawClient> {
    const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true, noDelay: true });
    await within(
      'a connection',
      new Promise<void>((resolve, reject) => {
        socket.once('connect', () => resolve());
        socket.once('error', reject);
      }),
    );
    return new RawClient(socket);
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Waits until the received text passes `test`, then returns it. */
  async until(test: (received: string) => boolean): Promise<string> {
    if (!test(this.received)) {
      await within(
        () => `what is awaited; received: ${JSON.stringify(this.received.slice(-600))}`,
        new Promise<void>((resolve) => {
          const watch = (): void => {
            if (!test(this.received) && this.isOpen) return;
            this.#watchers.delete(watch);
            resolve();
          };
          this.#watchers.add(watch);
          watch();
        }),
      );
    }
    if (!test(this.received))
      throw new Error(`closed early after ${JSON.stringify(this.received.slice(-600))}`);
    return this.received;
  }

  /** Waits until the other side has ended, then returns all received text. */
  async ended(): Promise<string> {
    await within(
      () => `the end; received: ${JSON.stringify(this.received.slice(-600))}`,
      new Promise<void>((resolve) => {
        const watch = (): void => {
          if (this.isOpen) return;
          this.#watchers.delete(watch);
          resolve();
        };
        this.#watchers.add(watch);
        watch();
      }),
    );
    return this.received;
  }

  close(): void {
    this.socket.destroy();
  }

  #notify(): void {
    for (const watch of this.#watchers) watch();
  }
}
