/** Many callers without credentials, from a few addresses of this machine, each with a body that it never finishes. */
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { statusOf } from './bytes-client.ts';

export interface UnprovenCrowdOptions {
  readonly port: number;
  readonly isTls: boolean;
  /** Method, path and headers but for those of the body; lines that end in CR LF. Undefined: a connection that asks nothing. */
  readonly head: string | undefined;
  readonly size: number;
  /** Taken in turn. */
  readonly addresses: readonly string[];
  /** What a body states to have, or a coding that states nothing. */
  readonly statedBytes: number | 'chunked';
  /** Sent at once; the rest never comes, but for a byte a second where that is asked for. */
  readonly sentBytes: number;
  readonly isTrickling: boolean;
}

export interface UnprovenCrowd {
  readonly openCount: number;
  /** How often each status was answered; 0: closed without an answer. */
  readonly statuses: ReadonlyMap<number, number>;
  close(): void;
}

/** Each is a handshake that server and clients work on: more at once measure this machine, not the server. */
const AT_ONCE = 8;
const ENTER_MS = 5_000;
const TRICKLE_MS = 1_000;
const PIECE = Buffer.alloc(65_536, 'x');

export async function openUnprovenCrowd(options: UnprovenCrowdOptions): Promise<UnprovenCrowd> {
  const { size, addresses } = options;
  const open = new Set<Socket>();
  const statuses = new Map<number, number>();
  const enter = async (index: number): Promise<void> => {
    const localAddress = addresses[index % addresses.length]!;
    const entered = Promise.withResolvers<void>();
    let answer = '';
    const socket = openSocket(options, localAddress, () => {
      open.add(socket);
      sendBeginning(socket, options, entered.resolve);
    });
    socket.on('error', () => {});
    socket.on('data', (piece: Buffer) => (answer += answer.length < 100 ? piece.toString('latin1') : ''));
    socket.on('close', () => {
      open.delete(socket);
      const status = Math.max(0, statusOf(answer));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      entered.resolve();
    });
    await Promise.race([entered.promise, pause(ENTER_MS, undefined, { ref: false })]);
  };
  const queue = Array.from({ length: size }, (_, index) => index).values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const index of queue) await enter(index);
    }),
  );
  const trickle = setInterval(() => {
    if (options.isTrickling) for (const socket of open) if (socket.writable) socket.write('x');
  }, TRICKLE_MS);
  return {
    get openCount() {
      return open.size;
    },
    statuses,
    close: () => {
      clearInterval(trickle);
      for (const socket of open) socket.destroy();
    },
  };
}

function openSocket({ port, isTls }: UnprovenCrowdOptions, localAddress: string, onIn: () => void): Socket {
  const at = { port, host: '127.0.0.1', localAddress };
  return isTls ? connectTls({ ...at, rejectUnauthorized: false }, onIn) : connect(at, onIn);
}

function sendBeginning(socket: Socket, options: UnprovenCrowdOptions, done: () => void): void {
  const { head, statedBytes, sentBytes } = options;
  if (head === undefined) {
    done();
    return;
  }
  const isChunked = statedBytes === 'chunked';
  socket.write(
    `${head}${isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${statedBytes}`}\r\n\r\n` +
      (isChunked ? `${sentBytes.toString(16)}0\r\n` : ''),
  );
  let left = sentBytes;
  const more = (): void => {
    while (left > 0 && socket.writable) {
      const piece = PIECE.subarray(0, Math.min(left, PIECE.length));
      left -= piece.length;
      if (!socket.write(piece)) {
        socket.once('drain', more);
        return;
      }
    }
    done();
  };
  more();
}
