/**
 * Sends commands from the Management API to a gateway of this control plane, over one of the feed's streams. A
 * control plane without a connected gateway sends none; gateways of its replicas are not asked.
 */
import type { GatewayReplay } from '#domain/gateway-shapes';

export class GatewayCommands {
  #send: ((line: string) => boolean) | undefined;

  /** Attaches the owner of the streams. `send` returns whether one of them accepted the line. */
  attach(send: (line: string) => boolean): void {
    this.#send = send;
  }

  /** Returns false if no gateway is connected here. */
  send(command: GatewayReplay): boolean {
    return this.#send?.(`${JSON.stringify(command)}\n`) ?? false;
  }
}
