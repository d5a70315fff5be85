/**
 * Circuits that keep working while something bad happens elsewhere: connections through a router's listener to an echo
 * service, each sending a message and comparing what comes back, again and again.
 */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { within } from './deadline.ts';

const MESSAGE_BYTES = 2_000;
const PAUSE_MS = 20;
/** An answer that takes longer counts as none. */
const PATIENCE_MS = 10_000;

export interface SteadyCircuits {
  readonly exchanges: number;
  /** Their errors; a circuit with an error does not continue. */
  readonly errors: readonly string[];
  /** The slowest exchange. */
  readonly worstMs: number;
  /** Waits until each circuit has answered `more` times from now on, or one has failed. */
  goOn(more: number): Promise<void>;
  stop(): Promise<void>;
}

/** Resolves once each of them has answered. */
export async function startSteadyCircuits(port: number, count: number): Promise<SteadyCircuits> {
  const done: number[] = Array.from({ length: count }, () => 0);
  const errors: string[] = [];
  let worstMs = 0;
  let isStopped = false;
  const run = async (at: number): Promise<void> => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    socket.on('error', () => {});
    try {
      while (!isStopped) {
        const fromMs = performance.now();
        await exchange(socket);
        worstMs = Math.max(worstMs, performance.now() - fromMs);
        done[at]! += 1;
        await pause(PAUSE_MS);
      }
    } catch (error) {
      errors.push(`circuit ${at}, exchange ${done[at]}: ${String(error)}`);
    } finally {
      socket.destroy();
    }
  };
  const running = Promise.all(done.map((_, at) => run(at)));
  const goOn = async (more: number): Promise<void> => {
    const wanted = done.map((exchanges) => exchanges + more);
    while (errors.length === 0 && done.some((exchanges, at) => exchanges < wanted[at]!))
      await pause(PAUSE_MS);
  };
  await goOn(1);
  return {
    get exchanges() {
      return done.reduce((sum, exchanges) => sum + exchanges, 0);
    },
    errors,
    get worstMs() {
      return worstMs;
    },
    goOn,
    stop: async () => {
      isStopped = true;
      await running;
    },
  };
}

async function exchange(socket: Socket): Promise<void> {
  const sent = randomBytes(MESSAGE_BYTES);
  const answer = Promise.withResolvers<void>();
  const parts: Buffer[] = [];
  let bytes = 0;
  const onData = (part: Buffer): void => {
    parts.push(part);
    bytes += part.length;
    if (bytes < sent.length) return;
    if (Buffer.concat(parts).equals(sent)) answer.resolve();
    else answer.reject(new Error('other bytes came back'));
  };
  const onEnd = (error?: unknown): void =>
    answer.reject(error instanceof Error ? error : new Error(`ended after ${bytes} bytes of an answer`));
  socket.on('data', onData).on('error', onEnd).on('close', onEnd);
  try {
    socket.write(sent);
    await within('an answer', answer.promise, PATIENCE_MS);
  } finally {
    socket.off('data', onData).off('error', onEnd).off('close', onEnd);
  }
}
