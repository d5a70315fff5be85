/** Requests a circuit to a service for a local connection, and makes that connection its initiator. */
import { FrontdoorError, type Log } from '#base';
import { ChannelError } from '#net/channel';
import type { CircuitEncryption } from '#sdk';
import { contentType, type Frame } from '#wire';
import { decodeCircuitAnswer, peerDataEntries, type CircuitGranted } from '#wire/circuits';
import { ctrlMessages } from '#wire/ctrl';
import type { XgressConfig } from '../config/router-config.ts';
import type { CircuitAsker } from '../ctrl/circuit-asker.ts';
import type { CircuitFaults } from '../forwarder/circuit-faults.ts';
import { initiatorAddresses, type LocalAddresses } from './local-addresses.ts';
import type { LocalConnection, XgressEnd } from './xgress-end.ts';
import type { XgressEnds } from './xgress-ends.ts';

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
  /** Each chunk of the connection is one datagram. */
  readonly isDatagrams?: boolean | undefined;
  /** Called when the circuit is established, before the first byte of the far end can arrive. */
  onCircuit?(circuitId: string): void;
}

/** A request to controllers for a circuit, and how its answers are read. */
export interface IngressQuestion {
  readonly frame: Frame;
  /** Name or id of the service, for messages. */
  readonly service: string;
  readonly timeoutMs: number;
  isGrant(answer: Frame): boolean;
  /** Returns true if another controller could give a better answer. */
  mayKnowBetter(answer: Frame): boolean;
  /** @throws FrontdoorError with the reason of a refusal, or `protocol`. */
  decode(answer: Frame): CircuitGranted;
}

export interface CircuitStart {
  readonly connection: LocalConnection;
  readonly config: XgressConfig;
  readonly hopType: string;
  readonly isDatagrams?: boolean | undefined;
  /**
   * Called when the circuit is established, before the first byte of the far end can arrive. Returns its encryption, and
   * throws if the circuit cannot be used.
   */
  onGranted(granted: CircuitGranted): CircuitEncryption | undefined;
}

export class IngressCircuits {
  readonly #options: IngressCircuitsOptions;

  constructor(options: IngressCircuitsOptions) {
    this.#options = options;
  }

  /** Rejects with `FrontdoorError`: unavailable (no controller), timeout, or badGateway with the reason. */
  async open({ ingressId, service, onCircuit, ...start }: IngressRequest): Promise<void> {
    const data = peerDataEntries(initiatorAddresses(start.connection));
    await this.begin(
      {
        frame: ctrlMessages.circuitRequest.frame({ ingressId, service, peerData: data }),
        service,
        timeoutMs: start.config.getCircuitTimeoutMs,
        isGrant: (answer) => !isFailure(answer),
        mayKnowBetter: isFailure,
        decode: decodeCircuitAnswer,
      },
      {
        ...start,
        onGranted: ({ circuitId }) => {
          onCircuit?.(circuitId);
          return undefined;
        },
      },
    );
  }

  /** Rejects like `open`, and as `request.decode` and `start.onGranted` do. */
  async begin(request: IngressQuestion, { onGranted, ...end }: CircuitStart): Promise<XgressEnd> {
    const { ends, faults } = this.#options;
    const { granted, controllerId } = await this.#ask(request);
    const { circuitId, address } = granted;
    try {
      const encryption = onGranted(granted);
      return ends.open({ circuitId, address, controllerId, isTerminator: false, encryption, ...end });
    } catch (error) {
      faults.onCircuitClosed(circuitId, controllerId, false);
      throw error;
    }
  }

  async #ask(request: IngressQuestion): Promise<{ granted: CircuitGranted; controllerId: string }> {
    const { asker, faults } = this.#options;
    const { frame, service, timeoutMs, mayKnowBetter } = request;
    try {
      const { answer, controller } = await asker.ask({
        frame,
        timeoutMs,
        mayKnowBetter,
        onUnused: ({ answer: late, controller: { id } }) => {
          if (request.isGrant(late)) faults.onCircuitClosed(request.decode(late).circuitId, id, false);
        },
      });
      return { granted: request.decode(answer), controllerId: controller.id };
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
