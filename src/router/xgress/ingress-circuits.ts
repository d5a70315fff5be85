/** Requests a circuit to a service for a local connection, and makes that connection its initiator. */
import { formatHostPort, FrontdoorError, utf8, type Log } from '#base';
import { ChannelError } from '#net';
import {
  contentType,
  decodeCircuitAnswer,
  headerId,
  peerDataRecord,
  type CircuitGranted,
  type Frame,
} from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { XgressConfig } from '../config/router-config.ts';
import type { CircuitAsker } from '../ctrl/circuit-asker.ts';
import type { CircuitFaults } from '../forwarder/circuit-faults.ts';
import type { LocalConnection } from './xgress-end.ts';
import type { XgressEnds } from './xgress-ends.ts';

const { peerData } = headerId;

export interface IngressCircuitsOptions {
  readonly asker: CircuitAsker;
  readonly ends: XgressEnds;
  readonly faults: CircuitFaults;
  readonly log: Log;
}

export interface IngressRequest {
  /** A label of the client; can be empty. */
  readonly ingressId: string;
  /** Name or id of the service. */
  readonly service: string;
  readonly connection: LocalConnection & LocalAddresses;
  readonly config: XgressConfig;
  readonly hopType: string;
  /** Called when the circuit is established, before the first byte of the far end can arrive. */
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
    const { ends, faults } = this.#options;
    const { granted, controllerId } = await this.#ask(request);
    const { circuitId, address } = granted;
    try {
      request.onCircuit?.(circuitId);
      ends.open({
        circuitId,
        address,
        controllerId,
        isTerminator: false,
        connection: request.connection,
        config: request.config,
        hopType: request.hopType,
      });
    } catch (error) {
      faults.onCircuitClosed(circuitId, controllerId, false);
      throw error;
    }
  }

  async #ask(request: IngressRequest): Promise<{ granted: CircuitGranted; controllerId: string }> {
    const { asker, faults } = this.#options;
    const { ingressId, service, connection, config } = request;
    const data = new Map([
      [peerData.initiatorLocalAddress, addressOf(connection.localAddress, connection.localPort)],
      [peerData.initiatorRemoteAddress, addressOf(connection.remoteAddress, connection.remotePort)],
    ]);
    const frame = ctrlMessages.circuitRequest.frame({ ingressId, service, peerData: peerDataRecord(data) });
    try {
      const { answer, controller } = await asker.ask({
        frame,
        timeoutMs: config.getCircuitTimeoutMs,
        mayKnowBetter: isFailure,
        onUnused: ({ answer: late, controller: { id } }) => {
          if (!isFailure(late)) faults.onCircuitClosed(decodeCircuitAnswer(late).circuitId, id, false);
        },
      });
      return { granted: decodeCircuitAnswer(answer), controllerId: controller.id };
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      const text = `no circuit to ${service}: ${error.message}`;
      const kind = error.code === 'timeout' ? 'timeout' : 'unavailable';
      throw new FrontdoorError(kind, 'circuit-request-failed', text, { cause: error });
    }
  }
}

function isFailure(answer: Frame): boolean {
  return answer.contentType === contentType.circuitFailed;
}

function addressOf(host: string | undefined, port: number | undefined): Uint8Array {
  return utf8(formatHostPort(host ?? '', port ?? 0));
}
