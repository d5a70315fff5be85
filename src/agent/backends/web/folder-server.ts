/** An HTTP server of the files of a folder, whose connections are circuits. Loaded with the first share of a folder. */
import { messageOf, type Log } from '#base';
import { createHttpServer, STATUS_CODES } from '#net/http';
import type { LocalSide } from '../../circuit-copy.ts';
import { FolderAnswer, refuse, type FolderOptions } from './folder-answer.ts';
import { FolderRefusal } from './served-folder.ts';
import { socketPair } from './server-socket.ts';

/** Longer than gateways keep a circuit for the next request. */
const KEEP_ALIVE_MS = 65_000;
/** A reader or a writer that stands still for this time loses its connection. */
const STALLED_MS = 120_000;
/** More than a gateway lets through at most, with the headers that it adds. */
const MAX_HEAD_BYTES = 160 * 1024;
const SHORTAGES = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

export class FolderServer {
  readonly #server;

  constructor(options: FolderOptions, log: Log) {
    this.#server = createHttpServer(
      { maxHeaderSize: MAX_HEAD_BYTES, keepAliveTimeout: KEEP_ALIVE_MS },
      (request, response) => {
        new FolderAnswer(options, request, response).send().catch((error: unknown) => {
          log.warn({ error: messageOf(error) }, 'a file could not be served');
          const { code = '' } = error as NodeJS.ErrnoException;
          const isPassing = error instanceof FolderRefusal || SHORTAGES.has(code);
          if (response.headersSent) response.destroy();
          else refuse(response, isPassing ? 503 : 500);
        });
      },
    );
    this.#server.timeout = STALLED_MS;
    this.#server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
      const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
      if (!socket.writable) socket.destroy();
      else
        socket.end(
          `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
        );
    });
  }

  /** A connection to the server. */
  connect(): LocalSide {
    const { socket, side } = socketPair();
    this.#server.emit('connection', socket);
    return side;
  }
}
