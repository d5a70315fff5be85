/**
 * One connection of datagrams to a private service (`udp://host:port`): a socket of its own, which takes datagrams of the service
 * alone. UDP has no handshake, so that it opens once the name is resolved, whether or not a service listens. One that is known not
 * to, by the answer of its machine to a datagram, ends the connection.
 */
import { messageOf } from '#base';
import type { DatagramConnection, UdpDial, UdpDialer } from '#net/datagrams';
import { DATAGRAM_IDLE_MS, DatagramSide } from '../datagram-side.ts';
import {
  failureOf,
  refusalOf,
  resolveTarget,
  TargetFailure,
  type TargetConnectOptions,
} from './target-connection.ts';

/** Opens the sockets. Their code is loaded with the first one, because few agents have a share of datagrams. */
export class DatagramDialer {
  #dialer: Promise<UdpDialer> | undefined;

  async dial(dial: UdpDial): Promise<DatagramConnection> {
    this.#dialer ??= import('#net/datagrams').then(({ UdpDialer: Dialer }) => new Dialer());
    return (await this.#dialer).dial(dial);
  }
}

export interface DatagramTargetOptions extends Pick<
  TargetConnectOptions,
  'target' | 'only' | 'resolver' | 'timeoutMs'
> {
  readonly dialer: DatagramDialer;
}

/**
 * Calls exactly one of the two, later. The handlers of the side must be set inside `onOpen`. The returned function cancels (then
 * neither is called).
 */
export function connectDatagrams(
  options: DatagramTargetOptions,
  onOpen: (side: DatagramSide) => void,
  onFailed: (failure: TargetFailure) => void,
): () => void {
  const { target, only, dialer, timeoutMs } = options;
  const { port } = target;
  let isSettled = false;
  const settle = (): boolean => {
    if (isSettled) return false;
    isSettled = true;
    clearTimeout(timer);
    return true;
  };
  const fail = (failure: TargetFailure): void => {
    if (settle()) onFailed(failure);
  };
  const timer = setTimeout(() => {
    fail(new TargetFailure('timeout', `the name ${target.host} was not resolved within ${timeoutMs} ms`));
  }, timeoutMs);
  const unreachable = (problem: unknown): TargetFailure =>
    new TargetFailure('unreachable', `cannot reach ${target.text}: ${messageOf(problem)}`);
  const dial = async (host: string): Promise<void> => {
    const idleTimeoutMs = DATAGRAM_IDLE_MS;
    const connection = await dialer.dial({ network: 'udp', host, port, timeoutMs, idleTimeoutMs });
    if (!settle()) {
      connection.destroy();
      return;
    }
    const side = new DatagramSide(connection);
    onOpen(side);
    side.resume();
  };
  const refused = only === undefined ? undefined : refusalOf(target, only);
  if (refused !== undefined) process.nextTick(fail, refused);
  else {
    resolveTarget(options, (error, [first]) => {
      if (error !== null) fail(failureOf(error, target, false));
      else dial(first!.address).catch((problem: unknown) => fail(unreachable(problem)));
    });
  }
  return () => void settle();
}
