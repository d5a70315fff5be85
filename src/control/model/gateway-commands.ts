/**
 * The way from the Management API to a gateway of this control plane: the feed's streams, of which one takes a command.
 * A control plane without a gateway of its own has none: gateways of its replicas are not asked.
 */
import type { GatewayReplay } from '#domain';

export class GatewayCommands {
  #send: ((line: string) => boolean) | undefined;

  /** Whoever holds the streams; `send` says whether one of them took the line. */
  attach(send: (line: string) => boolean): void {
    this.#send = send;
  }

  /** False: no gateway is connected here. */
  send(command: GatewayReplay): boolean {
    return this.#send?.(`${JSON.stringify(command)}\n`) ?? false;
  }
}
