/**
 * What a tunnel of a test needs: the data model of `router-1`, whose policies the test sets, and a controller that grants
 * circuits to the services of the model. Each ends at a program of the test.
 */
import { duplexPair, type Duplex } from 'node:stream';
import type { TestContext } from 'node:test';
import { silentLog, type Log } from '#base';
import { encryptionWith, generateEncryptionKeys } from '#sdk';
import { asReplyTo, contentType, headerId, type Frame } from '#wire';
import { encodeEdgeRefusal, peerDataEntries, peerDataOfEntries, RetryHint } from '#wire/circuits';
import { ctrlMessages, DataState_Action, DestType, type CtrlBody } from '#wire/ctrl';
import { eventsOf, type DataModelChange } from '../../../../test/support/token-signer.ts';
import { CircuitAsker } from '../../ctrl/circuit-asker.ts';
import { MemoryRouter } from '../../forwarder/testing/memory-mesh.ts';
import { DataModel } from '../../model/data-model.ts';
import { IngressCircuits } from '../../xgress/ingress-circuits.ts';
import { TunnelCircuits } from '../circuits/tunnel-circuits.ts';
import { TunnelServices } from '../services/tunnel-services.ts';

export const ROUTER_ID = 'router-1';
const HOST_BINDING = 'test-host';
const { publicKey } = headerId.peerData;

export interface TunnelWorldOptions {
  readonly log?: Log;
  /** Leaves out the key of the host. */
  readonly isHostWithoutKey?: boolean;
}

export class TunnelWorld {
  readonly model = new DataModel();
  readonly router = new MemoryRouter(ROUTER_ID);
  readonly services: TunnelServices;
  readonly ingress: IngressCircuits;
  readonly circuits: TunnelCircuits;
  readonly requests: CtrlBody<'createTunnelCircuitV2'>[] = [];
  /** Receives the host's side of each circuit, with the dialer's data. */
  onCircuit: (connection: Duplex, peerData: ReadonlyMap<number, Uint8Array>) => void = (connection) =>
    void connection.pipe(connection);
  /** The text of the controller's refusal; undefined to grant circuits. */
  refusal: string | undefined;
  /** Datagrams go through the circuits. */
  isDatagrams = false;
  #count = 0;

  constructor(t: TestContext, options: TunnelWorldOptions = {}) {
    const { log = silentLog } = options;
    this.services = new TunnelServices({ routerId: ROUTER_ID, model: this.model, log });
    const asker = new CircuitAsker(this.router.controllers);
    this.ingress = new IngressCircuits({ ...this.router, asker, log });
    const { services, ingress } = this;
    this.circuits = new TunnelCircuits({ services, ingress, config: this.router.xgress });
    this.router.controller.answers.set(contentType.createTunnelCircuitV2, (request, channel) => {
      void this.#grant(request).then((answer) => channel.send(asReplyTo(request, answer)));
    });
    this.router.dialers.add(HOST_BINDING, ({ circuitId, address, controllerId, peerData }) => {
      const dialerKey = peerData.get(publicKey);
      const keys =
        dialerKey === undefined || options.isHostWithoutKey === true ? undefined : generateEncryptionKeys();
      const [connection, program] = duplexPair({ allowHalfOpen: true });
      program.on('error', () => {});
      this.router.ends.open({
        circuitId,
        address,
        controllerId,
        isTerminator: true,
        connection,
        config: this.router.xgress,
        hopType: 'xgress/test',
        isDatagrams: this.isDatagrams,
        encryption: keys === undefined ? undefined : encryptionWith('host', keys, dialerKey),
      });
      this.onCircuit(program, peerData);
      return Promise.resolve(new Map(keys === undefined ? [] : [[publicKey, keys.publicKey]]));
    });
    t.after(() => {
      this.circuits.close();
      this.services.close();
      this.router.close();
    });
  }

  /** Applies changes as a controller sends them. */
  change(changes: readonly DataModelChange[], action: DataState_Action = DataState_Action.CREATE): void {
    const { frame, decode } = ctrlMessages.dataStateChangeSet;
    const set = { index: this.model.index + 1n, changes: eventsOf(changes, action) };
    this.model.change(
      decode.call(ctrlMessages.dataStateChangeSet, frame.call(ctrlMessages.dataStateChangeSet, set).body),
    );
  }

  async #grant(request: Frame): Promise<Frame> {
    const asked = ctrlMessages.createTunnelCircuitV2.decode(request.body);
    this.requests.push(asked);
    const refused = (text: string): Frame =>
      encodeEdgeRefusal(request, { text, code: 0, retryHint: RetryHint.none });
    if (this.refusal !== undefined) return refused(this.refusal);
    const circuitId = `circuit${(this.#count += 1)}`;
    const [near, far] = [`${circuitId}-in`, `${circuitId}-out`];
    const { isSuccess, error, peerData } = await this.router.route({
      circuitId,
      egress: {
        binding: HOST_BINDING,
        address: far,
        destination: 'x',
        peerData: peerDataEntries(peerDataOf(asked)),
      },
      forwards: [
        { srcAddress: near, dstAddress: far, dstType: DestType.END },
        { srcAddress: far, dstAddress: near, dstType: DestType.START },
      ],
      timeout: 10_000_000_000n,
    });
    if (!isSuccess) return refused(error);
    return ctrlMessages.createTunnelCircuitV2Response.frame({
      circuitId,
      address: near,
      peerData: peerDataEntries(peerData),
    });
  }
}

/** Returns the peer data of a request. */
export function peerDataOf({ peerData }: CtrlBody<'createTunnelCircuitV2'>): ReadonlyMap<number, Uint8Array> {
  return peerDataOfEntries(peerData);
}
