/**
 * Dials the far ends of circuits to hosted terminators (binding `tunnel`): finds the far end by the config and the
 * dialer's application data, connects to it, exchanges keys, and makes the connection the circuit's terminator.
 */
import { WorkerPool, type Log } from '#base';
import { headerId } from '#wire';
import { RouteErrorCode } from '#wire/circuits';
import type { XgressConfig } from '../../config/router-config.ts';
import { HostRefusal } from '../../forwarder/dial-refusal.ts';
import { terminatorAddresses } from '../../xgress/local-addresses.ts';
import type { EgressDial } from '../../xgress/egress-dialers.ts';
import { dialerWithoutKey, encryptFor, type CircuitSealing } from '../../xgress/host-encryption.ts';
import type { LocalAddresses } from '../../xgress/local-addresses.ts';
import type { LocalConnection, XgressEnd } from '../../xgress/xgress-end.ts';
import type { XgressEnds } from '../../xgress/xgress-ends.ts';
import {
  decodeAppData,
  farEndOf,
  sourceAddressOf,
  type AppData,
  type FarEndDialer,
  type FarEndRefusal,
} from '#sdk/hosting';
import type { HostedTerminator } from './hosted-terminator.ts';
import { ResolverConnection } from './resolver-connection.ts';
import type { SourceAddresses } from './source-addresses.ts';

const { publicKey, appData: appDataKey } = headerId.peerData;
const HOP_TYPE = 'xgress/tunnel';
const RESOLVER = 'resolver';
/** Look-ups for all circuits to the resolver. */
const CONCURRENT_LOOKUPS = 32;
const WAITING_LOOKUPS = 256;

export interface HostDialerOptions {
  readonly farEnds: FarEndDialer<LocalConnection & LocalAddresses>;
  readonly ends: XgressEnds;
  readonly config: XgressConfig;
  readonly sources?: Pick<SourceAddresses, 'settled'> | undefined;
  readonly log: Log;
}

export interface HostedCircuit {
  readonly end: XgressEnd;
  readonly connection: LocalConnection;
  /** For the dialing side. */
  readonly peerData: ReadonlyMap<number, Uint8Array>;
}

interface Connected {
  readonly connection: LocalConnection & LocalAddresses;
  readonly isDatagrams: boolean;
}

export class HostDialer {
  readonly #options: HostDialerOptions;
  readonly #lookups: WorkerPool;

  constructor(options: HostDialerOptions) {
    this.#options = options;
    this.#lookups = new WorkerPool({
      name: 'tunnel.resolver',
      queueLength: WAITING_LOOKUPS,
      workerCount: CONCURRENT_LOOKUPS,
      log: options.log,
    });
  }

  /** `isAllowed` is asked again when the far end is connected. Rejects with the reason of the refusal. */
  async dial(
    terminator: HostedTerminator,
    dial: EgressDial,
    isAllowed: () => boolean,
  ): Promise<HostedCircuit> {
    const { ends, config } = this.#options;
    const { circuitId, address, controllerId, peerData } = dial;
    const { encryption, ownKey } = encryptionOf(terminator, peerData.get(publicKey)) ?? {};
    const { connection, isDatagrams } = await this.#connect(terminator, dial);
    try {
      if (!isAllowed()) throw new HostRefusal('the router may no longer host the service');
      const end = ends.open({
        circuitId,
        address,
        controllerId,
        isTerminator: true,
        connection,
        encryption,
        isDatagrams,
        config,
        hopType: HOP_TYPE,
      });
      const data = terminatorAddresses(connection);
      if (ownKey !== undefined) data.set(publicKey, ownKey);
      return { end, connection, peerData: data };
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  async #connect({ config }: HostedTerminator, dial: EgressDial): Promise<Connected> {
    const appData = decodeAppData(dial.peerData.get(appDataKey));
    if (isForResolver(appData)) {
      const allowed = config.target.allowedAddresses;
      const connection = new ResolverConnection({ allowed, pool: this.#lookups });
      return { connection, isDatagrams: true };
    }
    const farEnd = farEndOf(config.target, appData);
    if ('refused' in farEnd) throw refusal(farEnd);
    const source = sourceAddressOf(config.allowedSources, appData);
    if (source !== undefined && 'refused' in source) throw refusal(source);
    if (source !== undefined) await this.#options.sources?.settled();
    const { proxy, listen } = config;
    const { connectTimeoutMs } = listen;
    const connection = await this.#options.farEnds.dial({ farEnd, source, proxy, connectTimeoutMs, dial });
    return { connection, isDatagrams: farEnd.protocol === 'udp' };
  }
}

function isForResolver(appData: AppData): boolean {
  return Object.hasOwn(appData, 'connType') && appData['connType'] === RESOLVER;
}

function refusal({ refused, field }: FarEndRefusal): HostRefusal {
  return new HostRefusal(refused, field === 'port' ? RouteErrorCode.portNotAllowed : RouteErrorCode.generic);
}

/** Undefined for a service without encryption whose dialer sent no key. */
function encryptionOf(
  { service }: HostedTerminator,
  dialerKey: Uint8Array | undefined,
): CircuitSealing | undefined {
  if (dialerKey !== undefined) return encryptFor(dialerKey);
  if (service.encryptionRequired) throw dialerWithoutKey('no key');
  return undefined;
}
