/**
 * Mode `tproxy`: leads connections and datagrams for the addresses of services to the router, wherever on this machine or
 * behind it they come from, and makes each a circuit to its service. It changes the machine's packet filter, routing and
 * addresses while it runs, and leaves them as they were.
 */
import type { Socket } from 'node:net';
import {
  BackOff,
  definedFields,
  formatHostPort,
  FrontdoorError,
  messageOf,
  type Clock,
  type Log,
} from '#base';
import { FlowTable } from '#net/datagrams';
import type { TunnelListenerConfig } from '../../config/router-config.ts';
import { openTcpListener, type TcpListener } from '../../xgress/tcp-listener.ts';
import { resetConnection, WaitingConnections } from '../../xgress/waiting-connections.ts';
import type { TunnelDialer, TunnelDialRequest } from '../circuits/tunnel-circuits.ts';
import type { InterceptedNames } from '../dns/intercepted-names.ts';
import { LoopbackAddresses } from '../machine/loopback-addresses.ts';
import { findProgram } from '../machine/machine-program.ts';
import { machineIdOf, type MachineRecord } from '../machine/machine-record.ts';
import { socketCalls, type SocketCalls } from '../machine/socket-calls.ts';
import { interceptConfigOf } from '../services/tunnel-configs.ts';
import type { TunnelService } from '../services/tunnel-service.ts';
import type { TunnelServices } from '../services/tunnel-services.ts';
import { DatagramIntake } from './datagram-intake.ts';
import type { InterceptedDatagram } from './datagram-reader.ts';
import { fillTemplate, type DialAddresses } from './dial-template.ts';
import { openFlow } from './flow-socket.ts';
import { MarkRoutes, requireInterfaces, requireNetAdmin, routingTableOf } from './host-network.ts';
import { diverterBackend, findBackend, type RuleBackend } from './host-rules.ts';
import {
  addressesOf,
  keyOfRule,
  rulesFor,
  type InterceptedProtocol,
  type InterceptRule,
} from './intercept-rule.ts';
import { InterceptTable } from './intercept-table.ts';
import type { Family, IntakePorts, RulePlan } from './rule-script.ts';
import { openStreamSocket } from './transparent-socket.ts';

/** A name server that is open. */
interface OpenNames {
  readonly names: Pick<InterceptedNames, 'range' | 'add' | 'remove' | 'nameOf' | 'patternsOf'>;
  close(): Promise<void>;
}

export interface TproxyPartOptions {
  readonly routerId: string;
  /** The number of the listener among those of this mode, from 0. */
  readonly ordinal: number;
  readonly config: Pick<
    TunnelListenerConfig,
    'path' | 'mode' | 'lanInterfaces' | 'udpIdleTimeoutMs' | 'udpCheckIntervalMs'
  >;
  /** Opens the name server. `isInUse` says whether there is a connection to an address. */
  openNames(isInUse: (address: string) => boolean): Promise<OpenNames>;
  /** Lists this part while it changes the machine. */
  readonly record: MachineRecord;
  placeOf(path: string): string;
  readonly services: TunnelServices;
  readonly dialer: TunnelDialer;
  readonly clock: Clock;
  readonly log: Log;
}

const DEFAULT_CONNECT_SECONDS = 5;
/** Changes of services within this time are set by one transaction. */
const SET_DELAY_MS = 50;
const SET_RETRY = { minMs: 1_000, maxMs: 30_000, factor: 2 };
const WARNING_INTERVAL_MS = 60_000;
const LOOPBACK = { 4: '127.0.0.1', 6: '::1' } as const;

/** The transparent sockets of a family. */
interface Intakes {
  readonly listener: TcpListener;
  readonly datagrams: DatagramIntake;
  readonly ports: IntakePorts;
}

export class TproxyPart {
  readonly #options: TproxyPartOptions;
  /** Names this router's rules on the machine. */
  readonly #id: string;
  readonly #table = new InterceptTable();
  readonly #flows: FlowTable;
  readonly #waiting: WaitingConnections;
  /** Number of open connections and flows by destination. */
  readonly #inUse = new Map<string, number>();
  readonly #backOff = new BackOff(SET_RETRY);
  #calls!: SocketCalls;
  #backend!: RuleBackend;
  #routes!: MarkRoutes;
  #network: LoopbackAddresses | undefined;
  #names: OpenNames | undefined;
  readonly #intakes = new Map<Family, Intakes>();
  #unfollow: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #setting: Promise<void> = Promise.resolve();
  #isOver = false;
  #warnedMs = Number.NEGATIVE_INFINITY;

  private constructor(options: TproxyPartOptions) {
    const { routerId, ordinal, config, clock, log } = options;
    this.#options = options;
    this.#id = machineIdOf(routerId, String(ordinal));
    const { udpIdleTimeoutMs: idleTimeoutMs, udpCheckIntervalMs: checkIntervalMs, path: name } = config;
    this.#waiting = new WaitingConnections(name, log);
    this.#flows = new FlowTable({
      name,
      idleTimeoutMs,
      checkIntervalMs,
      clock,
      log,
      onFlow: (flow, first, key) => {
        flow.receive(first);
        return this.#dial(flow, 'udp').catch(() => this.#flows.refuse(key, flow));
      },
    });
  }

  /** Rejects with a `FrontdoorError` that names what the machine or the process lacks. Nothing remains changed then. */
  static async open(options: TproxyPartOptions): Promise<TproxyPart> {
    const part = new TproxyPart(options);
    try {
      await part.#open();
      return part;
    } catch (error) {
      await part.close();
      throw error;
    }
  }

  /** Accepts no more connections and datagrams of new sources. Circuits remain. */
  drain(): void {
    this.#unfollow();
    this.#waiting.close();
    void this.#flows.close();
    for (const { listener, datagrams } of this.#intakes.values()) {
      listener.close();
      void datagrams.close();
    }
  }

  /** Removes everything from the machine. Circuits lose their clients. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.drain();
    await this.#setting;
    const { log, record } = this.#options;
    let isComplete = true;
    const steps = [
      () => this.#backend?.clear(),
      () => this.#routes?.clear(),
      () => this.#network?.clear(),
      () => this.#names?.close(),
      () => Promise.all(Array.from(this.#intakes.values(), ({ datagrams }) => datagrams.close())),
    ];
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        isComplete = false;
        log.error({ err: messageOf(error) }, 'something of tproxy remains on this machine');
      }
    }
    if (isComplete)
      await record
        .delete(this.#id)
        .catch((error: unknown) =>
          log.error({ err: messageOf(error) }, 'the record of changes was not updated'),
        );
  }

  async #open(): Promise<void> {
    const { config, placeOf, openNames, record, services, log } = this.#options;
    const { mode, lanInterfaces } = config;
    await requireNetAdmin();
    const lanNames = lanInterfaces.map(({ name }) => name);
    requireInterfaces(lanNames, placeOf(`${config.path}.options.lanIf`));
    const ip = await findProgram('ip');
    if (ip === undefined) {
      const message = 'mode tproxy needs the program ip, which this machine does not have: install iproute2';
      throw new FrontdoorError('unavailable', 'no-ip-program', message);
    }
    this.#backend =
      mode.diverter === undefined ? await findBackend(this.#id) : diverterBackend(mode.diverter);
    this.#routes = new MarkRoutes(ip, routingTableOf(this.#id));
    await this.#backend.clear();
    await this.#routes.clear();
    this.#calls = await socketCalls();
    this.#names = await openNames((address) => this.#inUse.has(address));
    const { address, prefixLength } = this.#names.names.range;
    this.#network = new LoopbackAddresses(ip, this.#id);
    await record.add(this.#id);
    await this.#network.clear();
    await this.#network.add(`${address}/${prefixLength}`);
    await this.#openIntakes(4);
    try {
      await this.#openIntakes(6);
    } catch (error) {
      log.info({ err: messageOf(error) }, 'this machine has no IPv6: its addresses are not intercepted');
    }
    this.#unfollow = services.follow({
      gained: (service) => this.#apply(service),
      changed: (service) => this.#apply(service),
      lost: (service) => this.#remove(service),
    });
    clearTimeout(this.#timer);
    await this.#set();
    log.info({ listener: config.path, rules: this.#backend.name }, 'services are intercepted');
  }

  async #openIntakes(family: Family): Promise<void> {
    const { config, log } = this.#options;
    const host = LOOPBACK[family];
    const at = { address: host, port: 0 };
    const { fd, port: tcp } = openStreamSocket(this.#calls, at);
    const listener = await openTcpListener({
      host,
      port: tcp,
      fd,
      place: config.path,
      log,
      onConnection: (socket) => this.#onConnection(socket),
    });
    const onDatagram = (datagram: InterceptedDatagram): void => this.#onDatagram(datagram);
    const datagrams = new DatagramIntake({ calls: this.#calls, at, log, onDatagram });
    this.#intakes.set(family, { listener, datagrams, ports: { tcp, udp: datagrams.port } });
    await this.#routes.add(family);
  }

  #apply(service: TunnelService): void {
    this.#remove(service);
    const { log } = this.#options;
    const config = service.mayDial ? interceptConfigOf(service, log) : undefined;
    if (config === undefined) return;
    this.#table.set({ serviceId: service.id, config });
    for (const name of addressesOf(config).names) {
      try {
        this.#names!.names.add(name, service.id);
      } catch (error) {
        log.error({ service: service.name, name, err: messageOf(error) }, 'a name is not intercepted');
      }
    }
    this.#setSoon(SET_DELAY_MS);
  }

  #remove({ id }: TunnelService): void {
    const before = this.#table.get(id);
    if (before === undefined) return;
    for (const name of addressesOf(before.config).names) this.#names!.names.remove(name, id);
    this.#table.delete(id);
    this.#setSoon(SET_DELAY_MS);
  }

  #setSoon(delayMs: number): void {
    if (this.#isOver) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#set().then(
        () => this.#backOff.reset(),
        (error: unknown) => {
          const retryMs = this.#backOff.next();
          const { log } = this.#options;
          log.error({ err: messageOf(error), retryMs }, 'the rules of interception could not be set');
          this.#setSoon(retryMs);
        },
      );
    }, delayMs);
  }

  /** Sets the rules of the present services. Rejects if the machine refuses them; those before remain then. */
  #set(): Promise<void> {
    const next = this.#setting.then(() => (this.#isOver ? undefined : this.#backend.set(this.#plan())));
    this.#setting = next.catch(() => {});
    return next;
  }

  #plan(): RulePlan {
    const { address, prefixLength } = this.#names!.names.range;
    const reserved = { network: `${address}/${prefixLength}`, own: address };
    const rules = new Map<string, InterceptRule>();
    for (const { config } of this.#table.values()) {
      const { networks, names } = addressesOf(config);
      const all = names.length === 0 ? networks : [...networks, reserved.network];
      for (const rule of rulesFor(config, all)) rules.set(keyOfRule(rule), rule);
    }
    return {
      id: this.#id,
      ports: new Map(Array.from(this.#intakes, ([family, { ports }]) => [family, ports])),
      rules: [...rules.values()],
      lanInterfaces: this.#options.config.lanInterfaces.map(({ name }) => name),
      reserved,
    };
  }

  #onConnection(socket: Socket): void {
    if (this.#waiting.add(socket) === undefined) return;
    socket.once('close', this.#use(socket.localAddress ?? ''));
    this.#dial(socket, 'tcp')
      .catch(() => resetConnection(socket))
      .finally(() => this.#waiting.remove(socket));
  }

  #onDatagram({ data, source, destination }: InterceptedDatagram): void {
    const key = `${formatHostPort(source.address, source.port)} ${formatHostPort(destination.address, destination.port)}`;
    try {
      this.#flows.receive(key, data, () =>
        openFlow(this.#calls, {
          source,
          destination,
          onDatagram: (datagram) => this.#flows.pass(key, datagram),
          onClosed: this.#use(destination.address),
        }),
      );
    } catch (error) {
      this.#warnOfSockets(key, error);
    }
  }

  async #dial(connection: TunnelDialRequest['connection'], protocol: InterceptedProtocol): Promise<void> {
    const { services, dialer, log } = this.#options;
    const addresses = this.#addressesOf(connection);
    const { sourceAddress, destinationAddress, destinationPort, destinationName } = addresses;
    const patterns = destinationName === undefined ? [] : this.#names!.names.patternsOf(destinationName);
    const peer = { protocol, sourceAddress, destinationAddress, destinationPort, patterns };
    const intercept = this.#table.find(peer);
    const service = intercept === undefined ? undefined : services.get(intercept.serviceId);
    const target = formatHostPort(destinationName ?? destinationAddress, destinationPort);
    try {
      if (intercept === undefined || service === undefined)
        throw new FrontdoorError('notFound', 'not-intercepted', `no service has ${target} over ${protocol}`);
      const { config } = intercept;
      const { dialOptions, sourceIp } = config;
      await dialer.dial({
        service,
        connection,
        protocol,
        appData: definedFields({
          dst_protocol: protocol,
          dst_hostname: destinationName,
          dst_ip: destinationAddress,
          dst_port: String(destinationPort),
          source_addr: sourceIp && fillTemplate(sourceIp, service.identity, addresses),
        }),
        instanceId: fillTemplate(dialOptions.identity ?? '', service.identity, addresses),
        connectTimeoutMs: (dialOptions.connectTimeoutSeconds ?? DEFAULT_CONNECT_SECONDS) * 1_000,
      });
    } catch (error) {
      const fields = { target, protocol, peer: sourceAddress, service: service?.name };
      log.info({ ...fields, err: messageOf(error) }, 'no circuit for an intercepted client');
      throw error;
    }
  }

  #addressesOf(connection: TunnelDialRequest['connection']): DialAddresses {
    const destinationAddress = connection.localAddress ?? '';
    return {
      sourceAddress: connection.remoteAddress ?? '',
      sourcePort: connection.remotePort ?? 0,
      destinationAddress,
      destinationPort: connection.localPort ?? 0,
      destinationName: this.#names!.names.nameOf(destinationAddress),
    };
  }

  /** The system refuses sockets for low ports without CAP_NET_BIND_SERVICE, and beyond the limit of descriptors. */
  #warnOfSockets(source: string, error: unknown): void {
    const { clock, log } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#warnedMs < WARNING_INTERVAL_MS) return;
    this.#warnedMs = nowMs;
    log.warn(
      { source, err: messageOf(error) },
      'no socket for intercepted datagrams: ports below 1024 need CAP_NET_BIND_SERVICE, and each flow a descriptor',
    );
  }

  /** Counts a connection to an address, so that its name keeps it, until the returned function is called. */
  #use(address: string): () => void {
    this.#inUse.set(address, (this.#inUse.get(address) ?? 0) + 1);
    return () => {
      const count = (this.#inUse.get(address) ?? 0) - 1;
      if (count > 0) this.#inUse.set(address, count);
      else this.#inUse.delete(address);
    };
  }
}
