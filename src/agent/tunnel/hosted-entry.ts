/**
 * One terminator that a tunnel hosts: its bind, its circuits, each connected to the far end that config and dialer choose, and
 * its values by health checks.
 */
import type { Socket } from 'node:net';
import { FrontdoorError, messageOf, ShortLivedSet, type Log } from '#base';
import { DatagramConnection } from '#net/datagrams';
import { terminatorSecret, type HostedService, type IncomingDial, type OverlayHost } from '#sdk';
import {
  decodeAppData,
  farEndOf,
  sourceAddressOf,
  type FarEndDialer,
  type HostTerminatorConfig,
  type TerminatorValues,
} from '#sdk/hosting';
import { CircuitCopy } from '../circuit-copy.ts';
import { containDial } from '../contained-dial.ts';
import { DatagramSide } from '../datagram-side.ts';
import { acceptedConnection } from '../backends/target-connection.ts';
import { rankOf, targetText, type HostPlan } from './host-plan.ts';

export interface HostedEntryOptions {
  readonly plan: HostPlan;
  readonly host: OverlayHost;
  readonly farEnds: FarEndDialer<DatagramConnection>;
  /** The key of the identity. */
  readonly keyPem: string;
  /** Distinguishes this process from others with the same identity. */
  readonly processId: string;
  readonly log: Log;
  onBound(): void;
  /** A circuit ended. */
  onEnded(): void;
}

const MAX_CIRCUITS = 16_384;
/** Limit for connecting to the far end; a config may set less. */
const DIAL_MS = 15_000;

export class HostedEntry {
  readonly id: string;
  config: HostTerminatorConfig;
  baseline: TerminatorValues;
  values: TerminatorValues;
  readonly #plan: HostPlan;
  readonly #options: HostedEntryOptions;
  readonly #log: Log;
  readonly #handle: HostedService;
  readonly #copies = new ShortLivedSet<CircuitCopy>();
  /** Aborts dials of far ends. */
  readonly #ended = new AbortController();
  #connecting = 0;
  #isWithdrawn = false;

  constructor(options: HostedEntryOptions) {
    const { plan, host, keyPem, processId, log } = options;
    const { service, instanceId } = plan;
    this.#options = options;
    this.#plan = plan;
    this.id = plan.key;
    this.config = plan.config;
    this.baseline = plan.baseline;
    this.values = plan.baseline;
    this.#log = log.child({ service: service.name });
    const address =
      instanceId === '' ? {} : { identity: instanceId, secret: terminatorSecret(instanceId, keyPem) };
    this.#handle = host.bind(
      {
        id: service.id,
        name: service.name,
        listenerId: `${processId}.${plan.key}`,
        encryption: service.encryptionRequired ? 'required' : undefined,
        terminator: { ...rankOf(plan.baseline), ...address },
      },
      (incoming) => containDial(incoming, service.name, this.#log, (dial) => void this.#onDial(dial)),
    );
    this.#handle.onState = (state, error) => {
      if (state === 'bound') this.#log.info({ target: targetText(this.config) }, 'service is hosted');
      else if (error !== undefined) this.#log.warn({ state, err: error.message }, 'service is not hosted');
      if (state === 'bound') options.onBound();
    };
  }

  get service(): HostPlan['service'] {
    return this.#plan.service;
  }

  get isBound(): boolean {
    return this.#handle.state === 'bound';
  }

  get circuits(): number {
    return this.#copies.size + this.#connecting;
  }

  /** Whether the plan can replace that of this terminator while it is bound. */
  isSameBind({ key, instanceId, service }: HostPlan): boolean {
    const { encryptionRequired } = this.#plan.service;
    return (
      key === this.id &&
      instanceId === this.#plan.instanceId &&
      service.encryptionRequired === encryptionRequired
    );
  }

  /** Applies to new circuits. */
  change({ config, baseline }: HostPlan): void {
    this.config = config;
    this.baseline = baseline;
    this.values = baseline;
    this.pushValues();
  }

  pushValues(): void {
    this.#handle.update(rankOf(this.values));
  }

  reportHealth(passed: boolean): void {
    this.#handle.reportHealth(passed);
  }

  /** Stops hosting. Open circuits continue, those of datagrams while they are in use. */
  withdraw(): void {
    this.#isWithdrawn = true;
    this.#handle.onState = () => {};
    this.#handle.close();
    for (const copy of this.#copies) copy.drain();
  }

  /** Ends the circuits, too. */
  close(reason: string): void {
    this.withdraw();
    this.#ended.abort();
    for (const copy of [...this.#copies]) copy.stop(reason);
  }

  async #onDial(incoming: IncomingDial): Promise<void> {
    if (this.circuits >= MAX_CIRCUITS) {
      incoming.refuse(`${this.service.name} has its ${MAX_CIRCUITS} circuits`);
      return;
    }
    this.#connecting += 1;
    try {
      const socket = await this.#connect(incoming.appData);
      this.#join(socket, incoming);
    } catch (error) {
      this.#log.info({ caller: incoming.callerId, reason: messageOf(error) }, 'refused a circuit');
      const isLate = error instanceof FrontdoorError && error.kind === 'timeout';
      incoming.refuse(messageOf(error), isLate ? 'service-timeout' : 'service-refused');
    }
    this.#connecting -= 1;
    this.#options.onEnded();
  }

  async #connect(data: Uint8Array | undefined): Promise<Socket | DatagramConnection> {
    const { target, allowedSources, proxy, listen } = this.config;
    const appData = decodeAppData(data);
    const farEnd = farEndOf(target, appData);
    if ('refused' in farEnd) throw new FrontdoorError('forbidden', 'far-end-not-allowed', farEnd.refused);
    const source = sourceAddressOf(allowedSources, appData);
    if (source !== undefined && 'refused' in source)
      throw new FrontdoorError('forbidden', 'far-end-not-allowed', source.refused);
    const dial = { deadlineMs: performance.now() + DIAL_MS, signal: this.#ended.signal };
    const { connectTimeoutMs } = listen;
    return this.#options.farEnds.dial({ farEnd, source, proxy, connectTimeoutMs, dial });
  }

  /** Throws if the caller has gone. */
  #join(socket: Socket | DatagramConnection, incoming: IncomingDial): void {
    socket.pause();
    let copy: CircuitCopy;
    const connection =
      socket instanceof DatagramConnection ? new DatagramSide(socket) : acceptedConnection(socket);
    try {
      copy = new CircuitCopy(incoming.accept(), connection, {
        onAlive: () => {},
        onClosed: (done, broken) => {
          this.#copies.delete(done);
          if (broken !== undefined)
            this.#log.debug({ circuit: done.circuit.id, reason: broken }, 'circuit broke');
          this.#options.onEnded();
        },
      });
    } catch (error) {
      socket.destroy();
      throw error;
    }
    this.#copies.add(copy);
    if (this.#isWithdrawn) copy.drain();
    connection.resume();
  }
}
