/** Asks a controller for a circuit to a service, for a local connection, and makes that connection its initiator. */
import { formatHostPort, FrontdoorError, utf8, type Log } from '#base';
import { ChannelError } from '#net';
import { decodeCircuitAnswer, headerId, peerDataRecord, type CircuitGranted } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { XgressConfig } from '../config/router-config.ts';
import type { Controller, Controllers } from '../ctrl/controllers.ts';
import type { CircuitFaults } from '../forwarder/circuit-faults.ts';
import type { LocalConnection } from './xgress-end.ts';
import type { XgressEnds } from './xgress-ends.ts';

const { peerData } = headerId;

export interface IngressCircuitsOptions {
  readonly controllers: Controllers;
  readonly ends: XgressEnds;
  readonly faults: CircuitFaults;
  readonly log: Log;
}

export interface IngressRequest {
  /** Who asks; may be empty. */
  readonly ingressId: string;
  /** Name or id. */
  readonly service: string;
  readonly connection: LocalConnection & LocalAddresses;
  readonly config: XgressConfig;
  readonly hopType: string;
  /** The circuit stands: called before the first byte of the far end can come. */
  onCircuit?(circuitId: string): void;
}

export interface LocalAddresses {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

export class IngressCircuits {
  readonly #options: IngressCircuitsOptions;

  constructor(options: IngressCircuitsOptions) {
    this.#options = options;
  }

  /** Rejects with `FrontdoorError`: unavailable (no controller), timeout, or badGateway with the reason. */
  async open(request: IngressRequest): Promise<void> {
    const { controllers, ends, faults } = this.#options;
    const controller = controllers.best();
    if (controller === undefined)
      throw new FrontdoorError('unavailable', 'no-controller', 'the router has no controller now');
    const { circuitId, address } = await this.#ask(controller, request);
    try {
      request.onCircuit?.(circuitId);
      ends.open({
        circuitId,
        address,
        controllerId: controller.id,
        isTerminator: false,
        connection: request.connection,
        config: request.config,
        hopType: request.hopType,
      });
    } catch (error) {
      faults.onCircuitClosed(circuitId, controller.id, false);
      throw error;
    }
  }

  async #ask(controller: Controller, request: IngressRequest): Promise<CircuitGranted> {
    const { ingressId, service, connection, config } = request;
    const data = new Map([
      [peerData.initiatorLocalAddress, addressOf(connection.localAddress, connection.localPort)],
      [peerData.initiatorRemoteAddress, addressOf(connection.remoteAddress, connection.remotePort)],
    ]);
    const frame = ctrlMessages.circuitRequest.frame({ ingressId, service, peerData: peerDataRecord(data) });
    try {
      return decodeCircuitAnswer(await controller.channel.request(frame, config.getCircuitTimeoutMs));
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      const text = `no circuit to ${service}: ${error.message}`;
      const kind = error.code === 'timeout' ? 'timeout' : 'unavailable';
      throw new FrontdoorError(kind, 'circuit-request-failed', text, { cause: error });
    }
  }
}

function addressOf(host: string | undefined, port: number | undefined): Uint8Array {
  return utf8(formatHostPort(host ?? '', port ?? 0));
}
