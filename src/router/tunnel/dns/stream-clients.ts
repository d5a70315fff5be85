/** Clients of the name server over TCP: their number, their idle time and what waits for them are bounded. */
import type { Socket } from 'node:net';
import { addressKey, isLoopbackHost } from '#base';
import { DnsStreamDecoder, encodeStreamMessage } from './dns-stream.ts';
import { LATER, type QueryResponder } from './query-responder.ts';

const MAX_CLIENTS = 256;
/** Maximum connections of a client on another machine. */
const MAX_CONNECTIONS_PER_CLIENT = 16;
/** A connection without a whole query for this time is closed. */
const IDLE_MS = 10_000;
/** While this number of queries of a connection wait for answers, it is not read. */
const MAX_WAITING = 64;
/** A client that leaves this number of bytes unread loses its connection. */
const MAX_UNREAD_BYTES = 256 * 1024;

export class StreamClients {
  readonly #responder: QueryResponder;
  readonly #clients = new Set<Socket>();
  readonly #perClient = new Map<string, number>();

  constructor(responder: QueryResponder) {
    this.#responder = responder;
  }

  /** Takes a connection that is paused. */
  add(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const key = addressKey(address);
    const count = this.#perClient.get(key) ?? 0;
    const isFull = count >= MAX_CONNECTIONS_PER_CLIENT && !isLoopbackHost(address);
    if (isFull || this.#clients.size >= MAX_CLIENTS) {
      socket.destroy();
      return;
    }
    this.#clients.add(socket);
    this.#perClient.set(key, count + 1);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#clients.delete(socket);
      const left = this.#perClient.get(key)! - 1;
      if (left === 0) this.#perClient.delete(key);
      else this.#perClient.set(key, left);
    });
    serve(socket, address, this.#responder);
  }

  close(): void {
    for (const socket of this.#clients) socket.destroy();
  }
}

function serve(socket: Socket, address: string, responder: QueryResponder): void {
  const decoder = new DnsStreamDecoder();
  const client = { address, isStream: true };
  let waiting = 0;
  let hasEnded = false;
  const idleTimer = setTimeout(() => socket.destroy(), IDLE_MS);
  socket.on('close', () => clearTimeout(idleTimer));
  const send = (answer: Buffer | undefined): void => {
    if (answer !== undefined) socket.write(encodeStreamMessage(answer));
    if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
  };
  const readOn = (): void => {
    while (waiting < MAX_WAITING && !socket.destroyed) {
      const message = decoder.next();
      if (message === undefined) break;
      idleTimer.refresh();
      const answer = responder.answer(message);
      if (answer !== LATER) {
        send(answer);
        continue;
      }
      waiting += 1;
      responder.answerLater(message, client, (later) => {
        waiting -= 1;
        if (socket.destroyed) return;
        send(later);
        if (waiting === MAX_WAITING - 1) setImmediate(readOn);
        endIfDone();
      });
    }
    if (waiting >= MAX_WAITING) socket.pause();
    else socket.resume();
    endIfDone();
  };
  const endIfDone = (): void => {
    if (hasEnded && waiting === 0) socket.end();
  };
  socket.on('data', (chunk: Buffer) => {
    decoder.push(chunk);
    readOn();
  });
  socket.on('end', () => {
    hasEnded = true;
    endIfDone();
  });
  socket.resume();
}
