/**
 * A router of a test that hosts the services of its data model, with a controller that keeps its terminators. The test
 * dials them as controllers do.
 */
import { duplexPair, type Duplex } from 'node:stream';
import type { TestContext } from 'node:test';
import { systemClock, utf8, WorkerPool, type Log } from '#base';
import { encryptionWith, generateEncryptionKeys } from '#sdk';
import {
  asReplyTo,
  CHANNEL_HEADERS,
  contentType,
  headerId,
  HeaderWriter,
  makeFrame,
  RESULT_TYPE,
} from '#wire';
import { peerDataEntries, type RouteResult } from '#wire/circuits';
import { CreateTerminatorResult, ctrlMessages, DestType, type CtrlBody } from '#wire/ctrl';
import { until } from '../../../../test/support/deadline.ts';
import type { MemoryController } from '../../testing/memory-controller.ts';
import { HostPart } from '../host/host-part.ts';
import type { SourceAddresses } from '../host/source-addresses.ts';
import type { ServiceProbe } from '#sdk/hosting';
import { TunnelWorld } from './tunnel-world.ts';

export type TerminatorRequest = CtrlBody<'createTunnelTerminatorV2'>;

export interface HostWorldOptions {
  readonly probe?: ServiceProbe;
  readonly sources?: SourceAddresses;
  readonly log: Log;
}

export interface HostedDial {
  readonly result: RouteResult;
  /** The dialer's side of the circuit. Undefined if the route failed. */
  readonly client: Duplex | undefined;
}

const { publicKey, appData } = headerId.peerData;
const REQUEST_TIMEOUT_MS = 5_000;

export class HostWorld {
  readonly tunnel: TunnelWorld;
  /** Terminators by id, as the controller has them. */
  readonly terminators = new Map<string, TerminatorRequest>();
  /** All requests in their order. */
  readonly requests: TerminatorRequest[] = [];
  /** Ids that the router has removed. */
  readonly removed: string[] = [];
  /** Number of updates of cost and precedence that the controller refuses from now on. */
  refusedUpdates = 0;
  /** Answers creations other than with success. */
  refusal: { readonly retryHint: number; readonly msg: string } | undefined;
  part: HostPart;
  readonly #options: HostWorldOptions;
  #count = 0;

  constructor(t: TestContext, options: HostWorldOptions) {
    this.#options = options;
    this.tunnel = new TunnelWorld(t, options);
    this.attach(this.tunnel.router.controller);
    this.part = this.#open();
    t.after(() => this.part.close());
  }

  /** Ends hosting and begins again with the same data model, as a router that starts again. */
  restart(): void {
    this.part.close();
    this.start();
  }

  /** After `part` was closed. */
  start(): void {
    this.part = this.#open();
  }

  /** Makes the controller keep terminators like the others. */
  attach(controller: MemoryController): void {
    const { answers } = controller;
    answers.set(contentType.createTunnelTerminatorV2, ({ body }) => {
      const request = ctrlMessages.createTunnelTerminatorV2.decode(body);
      this.requests.push(request);
      const { address: terminatorId } = request;
      const { SUCCESS, FAILED_OTHER } = CreateTerminatorResult;
      const result = this.refusal === undefined ? SUCCESS : FAILED_OTHER;
      if (result === SUCCESS && !this.terminators.has(terminatorId))
        this.terminators.set(terminatorId, request);
      const answer = ctrlMessages.createTunnelTerminatorV2Response.frame({
        terminatorId,
        result,
        ...this.refusal,
      });
      for (const handlers of this.part.handlers()) controller.say(handlers, answer);
    });
    answers.set(contentType.updateTunnelTerminator, (frame, channel) => {
      const { terminatorId, cost, precedence } = ctrlMessages.updateTunnelTerminator.decode(frame.body);
      const known = this.terminators.get(terminatorId);
      if (this.refusedUpdates > 0 || known === undefined) {
        this.refusedUpdates -= 1;
        const headers = new HeaderWriter().bool(CHANNEL_HEADERS.resultSuccess, false);
        channel.send(asReplyTo(frame, makeFrame(RESULT_TYPE, { headers })));
        return;
      }
      this.terminators.set(terminatorId, { ...known, cost, precedence });
      channel.send(asReplyTo(frame, makeFrame(contentType.updateTunnelTerminatorResponse)));
    });
    answers.set(contentType.removeTerminators, (frame, channel) => {
      for (const id of ctrlMessages.removeTerminators.decode(frame.body).terminatorIds) {
        this.removed.push(id);
        this.terminators.delete(id);
      }
      const headers = new HeaderWriter().bool(CHANNEL_HEADERS.resultSuccess, true);
      channel.send(asReplyTo(frame, makeFrame(RESULT_TYPE, { headers })));
    });
  }

  /** Resolves with the terminators of a service when the controller has `count` of them. */
  async hosted(serviceId: string, count = 1): Promise<TerminatorRequest[]> {
    const { value } = await until(
      `${count} terminators of ${serviceId}`,
      () => [...this.terminators.values()].filter((it) => it.serviceId === serviceId),
      ({ length }) => length === count,
    );
    return value;
  }

  /** Routes a circuit to the terminator, and begins it. */
  async dial(
    terminatorId: string,
    data: Readonly<Record<string, string>> = {},
    mode: { readonly isEncrypted?: boolean; readonly isDatagrams?: boolean } = {},
  ): Promise<HostedDial> {
    const { router } = this.tunnel;
    const circuitId = `hosted${(this.#count += 1)}`;
    const [near, far] = [`${circuitId}-in`, `${circuitId}-out`];
    const keys = mode.isEncrypted === true ? generateEncryptionKeys() : undefined;
    const peerData = new Map<number, Uint8Array>([[appData, utf8(JSON.stringify(data))]]);
    if (keys !== undefined) peerData.set(publicKey, keys.publicKey);
    const result = await router.route({
      circuitId,
      egress: {
        binding: 'tunnel',
        address: far,
        destination: terminatorId,
        peerData: peerDataEntries(peerData),
      },
      forwards: [
        { srcAddress: near, dstAddress: far, dstType: DestType.END },
        { srcAddress: far, dstAddress: near, dstType: DestType.START },
      ],
      timeout: 10_000_000_000n,
    });
    if (!result.isSuccess) return { result, client: undefined };
    const [connection, client] = duplexPair({ allowHalfOpen: true });
    client.on('error', () => {});
    router.ends.open({
      circuitId,
      address: near,
      controllerId: 'ctrl',
      isTerminator: false,
      connection,
      config: router.xgress,
      hopType: 'xgress/test',
      isDatagrams: mode.isDatagrams,
      encryption:
        keys === undefined ? undefined : encryptionWith('dialer', keys, result.peerData.get(publicKey)),
    });
    return { result, client };
  }

  #open(): HostPart {
    const { router, services, model } = this.tunnel;
    const { log, probe, sources } = this.#options;
    return new HostPart({
      ...router,
      services,
      model,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      rateLimiter: new WorkerPool({ name: 'test', queueLength: 5_000, workerCount: 50, log }),
      config: router.xgress,
      probe,
      sources,
      settleMs: 0,
      pruneMs: 20,
      clock: systemClock,
      log,
    });
  }
}
