/**
 * Links of routers over real TLS in one process. Each router is a `LinkSubsystem`; the controller is a script that
 * knows their certificates. Frames that links pass to the forwarder are recorded for assertions.
 */
import { X509Certificate } from 'node:crypto';
import { silentLog, WorkerPool, type Clock, type Log } from '#base';
import { TlsPorts } from '#net';
import type { Frame } from '#wire';
import type { DataFrame } from '#wire/xgress';
import { ctrlMessages, FaultSubject, PeerState, type AdvertisedListener } from '#wire/ctrl';
import {
  makeTestAuthority,
  type TestAuthority,
  type TestIdentity,
} from '../../../../test/support/certificates.ts';
import { until } from '../../../../test/support/deadline.ts';
import type {
  HttpProxyConfig,
  LinkConfig,
  LinkDialerConfig,
  LinkListenerConfig,
} from '../../config/router-config.ts';
import {
  FORWARDER_DEFAULTS,
  HANDSHAKE_TIMEOUT_MS,
  HEALTHY_BACKOFF_DEFAULTS,
  LINK_DEFAULTS,
  LINK_DIALER_DEFAULTS,
  UNHEALTHY_BACKOFF_DEFAULTS,
} from '../../config/testing/router-config-defaults.ts';
import type { Controller } from '../../ctrl/controllers.ts';
import type { Forwarding, LinkDestination } from '../../forwarder/destination.ts';
import { NO_METRICS, type Metrics } from '../../metrics/metrics.ts';
import type { Link } from '../link.ts';
import { LinkSubsystem, type LinkView } from '../link-subsystem.ts';
import { ControllerList } from '../../testing/controller-list.ts';
import { LinkController } from './scripted-controllers.ts';

const CHANNEL = LINK_DIALER_DEFAULTS.channel;

export function linkListenerFixture(more: Partial<LinkListenerConfig> = {}): LinkListenerConfig {
  return {
    path: 'link.listeners[0]',
    bind: { type: 'tls', host: '127.0.0.1', port: 0 },
    advertise: { type: 'tls', host: '127.0.0.1', port: 0 },
    localBinding: '',
    groups: LINK_DIALER_DEFAULTS.groups,
    channel: CHANNEL,
    ...more,
  };
}

/** Further connections follow the first immediately, and failed dials are repeated soon, so that tests do not wait. */
export function linkDialerFixture(more: Partial<LinkDialerConfig> = {}): LinkDialerConfig {
  return {
    path: 'link.dialers[0]',
    split: true,
    bind: undefined,
    groups: LINK_DIALER_DEFAULTS.groups,
    channel: CHANNEL,
    healthyBackoff: HEALTHY_BACKOFF_DEFAULTS,
    unhealthyBackoff: UNHEALTHY_BACKOFF_DEFAULTS,
    maxDefaultConnections: LINK_DIALER_DEFAULTS.maxDefaultConnections,
    maxAckConnections: LINK_DIALER_DEFAULTS.maxAckConnections,
    startupDelayMs: 0,
    ...more,
  };
}

/** Records the frames that links deliver. */
export class RecordingForwarding implements Forwarding {
  readonly links = new Map<string, LinkDestination>();
  readonly frames: { readonly source: string; readonly frame: DataFrame }[] = [];
  readonly controls: { readonly source: string; readonly frame: Frame }[] = [];
  readonly drained: string[] = [];

  forward(_circuitId: string, source: string, frame: DataFrame): void {
    this.frames.push({ source, frame });
  }

  control(source: string, frame: Frame): void {
    this.controls.push({ source, frame });
  }

  isWritable(): boolean {
    return true;
  }

  registerLink(link: LinkDestination): void {
    this.links.set(link.id, link);
  }

  unregisterLink(link: LinkDestination): void {
    if (this.links.get(link.id) === link) this.links.delete(link.id);
  }

  linkDrained(id: string): void {
    this.drained.push(id);
  }
}

export interface MeshRouterOptions {
  readonly link?: Partial<LinkConfig>;
  /** Undefined for certificates from the mesh's authority. */
  readonly identity?: TestIdentity;
  readonly version?: string;
  readonly metrics?: Metrics;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly proxy?: HttpProxyConfig;
  readonly forwarder?: { readonly linkDialQueueLength: number; readonly linkDialWorkerCount: number };
  readonly random?: () => number;
}

/** The properties of a router that a controller announces. */
export interface AnnouncedPeer {
  readonly id: string;
  readonly version: string;
  readonly listeners: readonly AdvertisedListener[];
}

interface RouterParts {
  readonly id: string;
  readonly version: string;
  readonly identity: TestIdentity;
  readonly controllers: ControllerList;
  readonly controller: Controller;
  readonly forwarding: RecordingForwarding;
  readonly ports: TlsPorts;
  readonly links: LinkSubsystem;
}

export class LinkingRouter {
  readonly id: string;
  readonly version: string;
  readonly identity: TestIdentity;
  readonly controllers: ControllerList;
  readonly controller: Controller;
  readonly forwarding: RecordingForwarding;
  readonly links: LinkSubsystem;
  readonly #ports: TlsPorts;

  private constructor(parts: RouterParts) {
    this.id = parts.id;
    this.version = parts.version;
    this.identity = parts.identity;
    this.controllers = parts.controllers;
    this.controller = parts.controller;
    this.forwarding = parts.forwarding;
    this.links = parts.links;
    this.#ports = parts.ports;
  }

  static async start(
    id: string,
    identity: TestIdentity,
    at: LinkController,
    options: MeshRouterOptions,
  ): Promise<LinkingRouter> {
    const { version = 'v1.7.2', log = silentLog, forwarder = FORWARDER_DEFAULTS } = options;
    const controllers = new ControllerList();
    const forwarding = new RecordingForwarding();
    const ports = new TlsPorts({ log });
    const opening = LinkSubsystem.open({
      routerId: id,
      config: {
        listeners: [linkListenerFixture()],
        dialers: [linkDialerFixture()],
        heartbeat: LINK_DEFAULTS.heartbeat,
        payloadQueueSize: LINK_DEFAULTS.payloadQueueSize,
        ackQueueSize: LINK_DEFAULTS.ackQueueSize,
        ...options.link,
      },
      placeOf: (path, key) => `router.yml:7: ${path}.${key}`,
      forwarder,
      handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
      proxy: options.proxy,
      ports,
      tls: () => ({ client: identity, server: { default: identity, alternates: [] } }),
      controllers,
      forwarding,
      metrics: options.metrics ?? NO_METRICS,
      rateLimiter: new WorkerPool({ name: 'rate_limiter', queueLength: 100, workerCount: 5, log }),
      log,
      clock: options.clock,
      random: options.random,
    });
    const links = await opening.catch(async (error: unknown) => {
      await ports.close();
      throw error;
    });
    const controller = at.connect(controllers);
    return new LinkingRouter({ id, version, identity, controllers, controller, forwarding, ports, links });
  }

  get fingerprint(): string {
    return new X509Certificate(this.identity.cert).fingerprint.replaceAll(':', '').toLowerCase();
  }

  /** Delivers a message of a controller. */
  deliver(frame: Frame): void {
    this.links.handlers().get(frame.contentType)!(frame, this.controller);
  }

  /** Announces the other router like a controller. */
  meet(other: LinkingRouter, more: Partial<AnnouncedPeer> = {}): void {
    const { id, version, listeners } = {
      id: other.id,
      version: other.version,
      listeners: other.links.advertised(),
      ...more,
    };
    this.deliver(
      ctrlMessages.peerStateChanges.frame({
        changes: [
          {
            id,
            version,
            state: PeerState.HEALTHY,
            listeners: listeners.map((listener) => ({ ...listener, groups: [...listener.groups] })),
          },
        ],
      }),
    );
  }

  lose(other: { readonly id: string }, state: PeerState): void {
    this.deliver(ctrlMessages.peerStateChanges.frame({ changes: [{ id: other.id, state }] }));
  }

  fault(linkId: string, iteration = 0): void {
    this.deliver(ctrlMessages.fault.frame({ subject: FaultSubject.LINK_FAULT, id: linkId, iteration }));
  }

  /** Returns the link as registered at the forwarder. */
  link(linkId?: string): Link {
    const { links } = this.forwarding;
    const link = linkId === undefined ? [...links.values()][0] : links.get(linkId);
    if (link === undefined) throw new Error(`router ${this.id} has no such link`);
    return link as Link;
  }

  /** Returns the states of the links that it dials, in the order of their announcements. */
  statuses(): string[] {
    const inspected = this.links.inspect('links') as {
      readonly destinations: readonly { readonly linkStates: readonly { readonly status: string }[] }[];
    };
    return inspected.destinations.flatMap(({ linkStates }) => linkStates.map(({ status }) => status));
  }

  /** The address of its first listener. */
  get port(): number {
    return Number(this.links.advertised()[0]!.address.split(':').at(-1));
  }

  /** Resolves with its single link, once it has this many connections. */
  async linked(connections = 1): Promise<LinkView> {
    const { value } = await until(
      `router ${this.id} to have one link of ${connections} connections or more`,
      () => this.links.links(),
      (links) => links.length === 1 && links[0]!.connections.length >= connections,
    );
    return value[0]!;
  }

  async close(): Promise<void> {
    await this.links.close();
    await this.#ports.close();
  }
}

/** Creates routers with one authority and one controller, which knows the certificate of each. */
export class LinkMesh {
  readonly authority: TestAuthority;
  readonly controller = new LinkController();
  readonly #routers: LinkingRouter[] = [];

  private constructor(authority: TestAuthority) {
    this.authority = authority;
    this.controller.judge = ({ routerId, fingerprints }) =>
      this.#routers.some(({ id, fingerprint }) => id === routerId && fingerprints[0] === fingerprint);
  }

  static async make(): Promise<LinkMesh> {
    return new LinkMesh(await makeTestAuthority());
  }

  async add(id: string, options: MeshRouterOptions = {}): Promise<LinkingRouter> {
    const identity = options.identity ?? (await this.authority.issue(id));
    const router = await LinkingRouter.start(id, identity, this.controller, options);
    this.#routers.push(router);
    return router;
  }

  async close(): Promise<void> {
    await Promise.all(this.#routers.map((router) => router.close()));
    this.controller.close();
  }
}
