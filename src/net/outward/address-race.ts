/**
 * Connects to the first address of a server that accepts (RFC 8305): each further address is tried when the former one
 * failed, or has not accepted for a while, beside it. Node's own selection gives up an address after 250 ms, so that it
 * never reaches a server that is farther away.
 */
import * as net from 'node:net';
import { messageOf } from '#base';

export interface ServerAddress {
  readonly address: string;
  readonly family: number;
}

export interface RaceOptions {
  /** In the order in which they are tried; not empty. */
  readonly addresses: readonly ServerAddress[];
  readonly port: number;
  readonly localAddress?: string | undefined;
  /** Ends the attempts, and is the reason of the rejection then. */
  readonly signal: AbortSignal;
  /** Called for addresses that failed, and for those that had not accepted when a later one did. */
  readonly onDead: (address: string) => void;
}

/** The time that one address has to accept before the next one is tried, too. */
const NEXT_AFTER_MS = 250;
const MAX_NAMED_ERRORS = 3;

/** Returns a connected socket whose errors have a listener. Rejects with the error of every address. */
export function connectToFirst(options: RaceOptions): Promise<net.Socket> {
  const { addresses, port, localAddress, signal, onDead } = options;
  const { promise, resolve, reject } = Promise.withResolvers<net.Socket>();
  const attempts = new Map<string, net.Socket>();
  const errors: NodeJS.ErrnoException[] = [];
  let tried = 0;
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    for (const socket of attempts.values()) socket.destroy();
    attempts.clear();
  };
  const onAbort = (): void => {
    end();
    reject(signal.reason as Error);
  };
  const onConnect = (address: string, socket: net.Socket): void => {
    // Those before it in this map began earlier.
    for (const [other] of attempts) {
      if (other === address) break;
      onDead(other);
    }
    attempts.delete(address);
    end();
    resolve(socket);
  };
  const onError = (address: string, error: NodeJS.ErrnoException): void => {
    if (!attempts.delete(address)) return;
    onDead(address);
    errors.push(error);
    if (tried < addresses.length) tryNext();
    else if (attempts.size === 0) {
      end();
      reject(failureOf(errors));
    }
  };
  const tryNext = (): void => {
    clearTimeout(timer);
    const next = addresses[tried];
    if (next === undefined) return;
    tried += 1;
    const { address } = next;
    const socket = net.connect({ host: address, port, localAddress, noDelay: true });
    attempts.set(address, socket);
    socket.once('connect', () => onConnect(address, socket));
    socket.on('error', (error) => onError(address, error));
    if (tried < addresses.length) timer = setTimeout(tryNext, NEXT_AFTER_MS);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  else tryNext();
  return promise;
}

/** The order of the resolver, with the families in turns, and the dead ones last. */
export function orderOf(
  addresses: readonly ServerAddress[],
  isDead: (address: string) => boolean,
): readonly ServerAddress[] {
  const [first] = addresses;
  const own = addresses.filter(({ family }) => family === first?.family);
  const other = addresses.filter(({ family }) => family !== first?.family);
  const mixed: ServerAddress[] = [];
  for (let i = 0; i < Math.max(own.length, other.length); i += 1)
    mixed.push(...own.slice(i, i + 1), ...other.slice(i, i + 1));
  return [
    ...mixed.filter(({ address }) => !isDead(address)),
    ...mixed.filter(({ address }) => isDead(address)),
  ];
}

function failureOf(errors: readonly NodeJS.ErrnoException[]): Error {
  const [first] = errors;
  if (errors.length === 1) return first!;
  const texts = errors.slice(0, MAX_NAMED_ERRORS).map(messageOf);
  const error: NodeJS.ErrnoException = new Error(texts.join(', '), { cause: first });
  error.code = first!.code ?? 'ECONNREFUSED';
  return error;
}
