/**
 * Dials services for local connections as the router's own identity: checks its access, requests the circuit (20220),
 * exchanges keys where the service is encrypted, and makes the connection the circuit's initiator. Circuits to a service
 * end when the identity may no longer dial it.
 */
import { FrontdoorError, utf8 } from '#base';
import { encryptionWith, generateEncryptionKeys } from '#sdk';
import { contentType, headerId, type Frame } from '#wire';
import {
  decodeEdgeRefusal,
  EdgeErrorCode,
  peerDataOfEntries,
  peerDataEntries,
  type CircuitGranted,
} from '#wire/circuits';
import { ctrlMessages } from '#wire/ctrl';
import type { XgressConfig } from '../../config/router-config.ts';
import type { IngressCircuits } from '../../xgress/ingress-circuits.ts';
import { initiatorAddresses, type LocalAddresses } from '../../xgress/local-addresses.ts';
import type { LocalConnection } from '../../xgress/xgress-end.ts';
import { ServiceCircuits } from '../services/service-circuits.ts';
import type { TunnelService } from '../services/tunnel-service.ts';
import type { TunnelServices } from '../services/tunnel-services.ts';

const { publicKey, appData: appDataKey } = headerId.peerData;
const HOP_TYPE = 'xgress/tunnel';

export interface TunnelDialRequest {
  readonly service: TunnelService;
  readonly connection: LocalConnection & LocalAddresses;
  /** With `udp`, each chunk of the connection is one datagram. */
  readonly protocol: 'tcp' | 'udp';
  /** Data for the host, such as the address that the client dialed. */
  readonly appData: Readonly<Record<string, string>>;
  /** The terminator instance to dial; empty for any. */
  readonly instanceId: string;
  readonly connectTimeoutMs: number;
}

export interface TunnelDialer {
  /**
   * Resolves when the connection belongs to a circuit. Rejects with a `FrontdoorError` that has the reason; the
   * connection then still belongs to the caller.
   */
  dial(request: TunnelDialRequest): Promise<void>;
}

export interface TunnelCircuitsOptions {
  readonly services: TunnelServices;
  readonly ingress: IngressCircuits;
  readonly config: XgressConfig;
}

export class TunnelCircuits implements TunnelDialer {
  readonly #options: TunnelCircuitsOptions;
  readonly #circuits = new ServiceCircuits();
  readonly #unfollow: () => void;

  constructor(options: TunnelCircuitsOptions) {
    this.#options = options;
    this.#unfollow = options.services.follow({
      gained: () => {},
      changed: (service) => {
        if (!service.mayDial) this.#endCircuits(service);
      },
      lost: (service) => this.#endCircuits(service),
    });
  }

  async dial(request: TunnelDialRequest): Promise<void> {
    const { services, ingress, config } = this.#options;
    const { service, connection, protocol, connectTimeoutMs } = request;
    this.#checkAccess(service);
    const keys = service.encryptionRequired ? generateEncryptionKeys() : undefined;
    const end = await ingress.begin(
      {
        frame: requestFrame(request, keys?.publicKey),
        service: service.name,
        timeoutMs: connectTimeoutMs,
        isGrant,
        mayKnowBetter: (answer) =>
          !isGrant(answer) && decodeEdgeRefusal(answer).code === EdgeErrorCode.invalidTerminator,
        decode,
      },
      {
        connection,
        config,
        hopType: HOP_TYPE,
        isDatagrams: protocol === 'udp',
        onGranted: ({ peerData }) => {
          // The access can have ended while the circuit was made.
          this.#checkAccess(services.get(service.id) ?? service);
          if (keys === undefined) return undefined;
          const encryption = encryptionWith('dialer', keys, peerData.get(publicKey));
          if (encryption === undefined) throw noKey(service);
          return encryption;
        },
      },
    );
    this.#circuits.keep(service.id, end, connection);
  }

  /** Ends nothing: circuits end with the ends of the router. */
  close(): void {
    this.#unfollow();
  }

  #checkAccess({ id, name }: TunnelService): void {
    const fault = this.#options.services.accessFault(id, 'Dial');
    if (fault === undefined) return;
    throw new FrontdoorError('forbidden', 'dial-not-permitted', `the router may not dial ${name}: ${fault}`);
  }

  #endCircuits({ id, name }: TunnelService): void {
    this.#circuits.end(id, `the router may no longer dial ${name}`);
  }
}

function requestFrame(
  { service, connection, appData, instanceId }: TunnelDialRequest,
  key: Uint8Array | undefined,
): Frame {
  const peerData = initiatorAddresses(connection);
  peerData.set(appDataKey, utf8(JSON.stringify(appData)));
  if (key !== undefined) peerData.set(publicKey, key);
  return ctrlMessages.createTunnelCircuitV2.frame({
    serviceName: service.name,
    terminatorInstanceId: instanceId,
    peerData: peerDataEntries(peerData),
  });
}

function isGrant(answer: Frame): boolean {
  return answer.contentType === contentType.createTunnelCircuitV2Response;
}

function decode(answer: Frame): CircuitGranted {
  if (!isGrant(answer)) {
    const reason = decodeEdgeRefusal(answer).text || 'no reason given';
    throw new FrontdoorError('badGateway', 'circuit-refused', `the controller refused: ${reason}`);
  }
  const { circuitId, address, peerData } = ctrlMessages.createTunnelCircuitV2Response.decode(answer.body);
  if (circuitId === '' || address === '')
    throw new FrontdoorError('protocol', 'malformed-body', 'malformed answer to a CreateTunnelCircuitV2');
  return { circuitId, address, peerData: peerDataOfEntries(peerData) };
}

function noKey({ name }: TunnelService): FrontdoorError {
  const text = `${name} requires end-to-end encryption, and its host sent no key`;
  return new FrontdoorError('badGateway', 'host-without-key', text);
}
