/**
 * Clients of a tunnel that know nothing of it: TCP connections that stay, and UDP sources, each with one message under way. A
 * message carries the number of its client, so that answers of others are noticed.
 */
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../support/deadline.ts';

const HOST = '127.0.0.1';
/** Each client sends a message in this interval, again if it is a datagram without an answer. */
const INTERVAL_MS = 2_000;
const OPENING_AT_ONCE = 50;
const RETRY_MS = 200;
const WAIT_MS = 60_000;

abstract class Clients {
  /** Messages that returned, by client. */
  readonly answers: number[];
  /** Answers that belong to another client, or to no message. */
  readonly strays: string[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(count: number) {
    this.answers = Array.from({ length: count }, () => 0);
    this.#timer = setInterval(() => this.sendAll(), INTERVAL_MS);
  }

  /** Resolves when each client has got one more answer, or rejects with the number of those without. */
  async untilEachAnswered(what: string): Promise<void> {
    const before = [...this.answers];
    const silent = (): number => this.answers.filter((count, at) => count === before[at]).length;
    await until(what, silent, (count) => count === 0, WAIT_MS);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  protected textOf(at: number): string {
    return `client ${at}, message ${this.answers[at]}\n`;
  }

  protected take(at: number, text: string): void {
    if (text === this.textOf(at)) this.answers[at]! += 1;
    // A datagram that was sent again can be answered twice.
    else if (!text.startsWith(`client ${at}, `)) this.strays.push(`client ${at}: ${text}`);
  }

  protected abstract sendAll(): void;
}

export class TcpClients extends Clients {
  readonly #port: number;
  readonly #sockets: (Socket | undefined)[];

  constructor(port: number, count: number) {
    super(count);
    this.#port = port;
    this.#sockets = Array.from({ length: count }, () => undefined);
  }

  get openCount(): number {
    return this.#sockets.filter((socket) => socket !== undefined).length;
  }

  /** Opens those that are closed, some at a time, until each of them got an answer. */
  async open(): Promise<void> {
    let next = 0;
    const some = async (): Promise<void> => {
      for (let at = next++; at < this.#sockets.length; at = next++)
        while (this.#sockets[at] === undefined && !(await this.#openOne(at))) await pause(RETRY_MS);
    };
    await Promise.all(Array.from({ length: OPENING_AT_ONCE }, some));
  }

  override close(): void {
    super.close();
    for (const socket of this.#sockets) socket?.destroy();
  }

  protected override sendAll(): void {
    for (const [at, socket] of this.#sockets.entries()) socket?.write(this.textOf(at));
  }

  /** Resolves with false if the connection ended before its first answer. */
  #openOne(at: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const socket = connect({ host: HOST, port: this.#port, noDelay: true });
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      this.#sockets[at] = socket;
      const lines = (text + String(chunk)).split('\n');
      text = lines.pop()!;
      for (const line of lines) this.take(at, `${line}\n`);
      resolve(true);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#sockets[at] === socket) this.#sockets[at] = undefined;
      resolve(false);
    });
    socket.write(this.textOf(at));
    return promise;
  }
}

export class UdpClients extends Clients {
  readonly #port: number;
  readonly #sockets: DatagramSocket[];

  constructor(port: number, count: number) {
    super(count);
    this.#port = port;
    this.#sockets = Array.from({ length: count }, (_, at) => {
      const socket = createSocket('udp4', (datagram) => this.take(at, String(datagram)));
      // A closed port is reported to the sender.
      return socket.on('error', () => {});
    });
  }

  override close(): void {
    super.close();
    for (const socket of this.#sockets) socket.close();
  }

  protected override sendAll(): void {
    for (const [at, socket] of this.#sockets.entries()) socket.send(this.textOf(at), this.#port, HOST);
  }
}
