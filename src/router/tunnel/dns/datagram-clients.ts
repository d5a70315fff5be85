/** Clients of the name server over UDP. */
import type { Socket } from 'node:dgram';
import { messageOf, type Log } from '#base';
import { contain } from '#net';
import { LATER, type QueryResponder } from './query-responder.ts';

/** While the kernel has not accepted this number of answers, further ones are dropped. */
const MAX_UNSENT_ANSWERS = 256;

export interface DatagramClientsOptions {
  readonly socket: Socket;
  readonly responder: QueryResponder;
  /** Place of the option, for messages: file, line and key. */
  readonly place: string;
  readonly log: Log;
}

export class DatagramClients {
  readonly #options: DatagramClientsOptions;
  #isClosed = false;

  constructor(options: DatagramClientsOptions) {
    this.#options = options;
    const { socket, place, log } = options;
    socket.on('error', (error) => log.error({ listener: place, err: messageOf(error) }, 'listener failed'));
  }

  get port(): number {
    return this.#options.socket.address().port;
  }

  start(): void {
    const { socket, responder, log } = this.#options;
    socket.on('message', (message, { address, port }) => {
      contain({ kind: 'query', id: `of ${address}`, log }, () => {
        const answer = responder.answer(message);
        if (answer !== LATER) this.#send(answer, port, address);
        else
          responder.answerLater(message, { address, isStream: false }, (later) =>
            this.#send(later, port, address),
          );
      });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#options.socket.close();
  }

  #send(answer: Buffer | undefined, port: number, address: string): void {
    const { socket } = this.#options;
    // Answers that wait can outlive the socket. Nothing can be sent to port 0, which only a forged datagram has.
    if (answer === undefined || this.#isClosed || port === 0) return;
    if (socket.getSendQueueCount() < MAX_UNSENT_ANSWERS) socket.send(answer, port, address, ignore);
  }
}

/** An answer that cannot be sent, such as to an address without a route, is lost like one on the network. */
function ignore(): void {}
