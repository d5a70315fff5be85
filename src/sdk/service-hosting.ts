/**
 * Hosts one service at every connected router: binds, binds again when a bind ends, and reports its health. It
 * counts as bound while the controller has confirmed it at one router or more.
 */
import { BackOff, messageOf, type Log } from '#base';
import { failAlone } from '#net';
import type { ChannelBind } from './edge-channel-options.ts';
import type { BindableService, HostedService, HostingState, IncomingDial } from './hosted-service.ts';
import type { RouterConnection } from './router-connection.ts';
import type { ServiceSessions } from './service-sessions.ts';
import type { TerminatorRank } from './terminator-options.ts';

export interface ServiceHostingOptions {
  readonly service: BindableService;
  readonly handler: (incoming: IncomingDial) => void;
  readonly log: Log;
  readonly sessions: ServiceSessions;
  onClosed(): void;
}

interface Attachment {
  bind: ChannelBind | undefined;
  isEstablished: boolean;
  timer: NodeJS.Timeout | undefined;
  readonly backOff: BackOff;
}

const LOWEST: TerminatorRank = { precedence: 'failed' };
const REBIND = { minMs: 250, maxMs: 5_000, factor: 2 };

export class ServiceHosting implements HostedService {
  onState: HostedService['onState'] = () => {};
  readonly #options: ServiceHostingOptions;
  readonly #attachments = new Map<RouterConnection, Attachment>();
  #state: HostingState = 'binding';
  #health: boolean | undefined;
  #isClosed = false;
  #isLowered = false;
  #rank: TerminatorRank | undefined;

  constructor(options: ServiceHostingOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.service.name;
  }

  get state(): HostingState {
    return this.#state;
  }

  attach(connection: RouterConnection): void {
    if (this.#isClosed) return;
    this.detach(connection);
    const attachment: Attachment = {
      bind: undefined,
      isEstablished: false,
      timer: undefined,
      backOff: new BackOff(REBIND),
    };
    this.#attachments.set(connection, attachment);
    void this.#bind(connection, attachment);
  }

  detach(connection: RouterConnection): void {
    const attachment = this.#attachments.get(connection);
    if (attachment === undefined) return;
    clearTimeout(attachment.timer);
    this.#attachments.delete(connection);
    this.#refreshState();
  }

  reportHealth(passed: boolean): void {
    this.#health = passed;
    for (const [connection, attachment] of this.#attachments) this.#forwardHealth(connection, attachment);
  }

  update(rank: TerminatorRank): void {
    this.#rank = rank;
    if (!this.#isLowered) this.#forwardRank(rank);
  }

  lower(): void {
    this.#isLowered = true;
    this.#forwardRank(LOWEST);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const [connection, { bind, timer }] of this.#attachments) {
      clearTimeout(timer);
      if (bind !== undefined) connection.edge?.unbind(bind);
    }
    this.#attachments.clear();
    this.#options.onClosed();
  }

  async #bind(connection: RouterConnection, attachment: Attachment): Promise<void> {
    const { service } = this.#options;
    const isStill = (): boolean => !this.#isClosed && this.#attachments.get(connection) === attachment;
    try {
      const session = await this.#options.sessions.get(service.id, 'Bind');
      const edge = connection.edge;
      if (!isStill() || edge === undefined) return;
      const wasLowered = this.#isLowered;
      const rank = this.#rank;
      const bind = await edge.bind(
        {
          token: session.token,
          serviceId: service.id,
          encryption: service.encryption,
          terminator: { ...service.terminator, ...rank },
          onDial: (incoming) => this.#onDial(incoming),
          onEstablished: () => this.#alone(() => this.#onEstablished(connection, attachment)),
          onClosed: (reason) => this.#alone(() => this.#onBindClosed(connection, attachment, reason)),
        },
        service.listenerId ?? service.id,
        wasLowered,
      );
      if (!isStill()) {
        edge.unbind(bind);
        return;
      }
      attachment.bind = bind;
      if (this.#isLowered && !wasLowered) edge.update(bind, LOWEST);
      else if (this.#rank !== undefined && this.#rank !== rank) edge.update(bind, this.#rank);
      this.#forwardHealth(connection, attachment);
    } catch (error) {
      if (isStill()) this.#retry(connection, attachment, messageOf(error));
    }
  }

  #onDial(incoming: IncomingDial): void {
    try {
      this.#options.handler(incoming);
    } catch (error) {
      const { service, log } = this.#options;
      const id = `of ${service.name} from ${incoming.callerId}`;
      failAlone({ kind: 'circuit', id, log, fail: () => incoming.refuse('internal error') }, error);
    }
  }

  /** The channel reports to one service after the other. */
  #alone(work: () => void): void {
    try {
      work();
    } catch (error) {
      failAlone({ kind: 'share', id: this.name, log: this.#options.log }, error);
    }
  }

  #onEstablished(connection: RouterConnection, attachment: Attachment): void {
    if (this.#isClosed || this.#attachments.get(connection) !== attachment) return;
    attachment.isEstablished = true;
    attachment.backOff.reset();
    this.#forwardHealth(connection, attachment);
    this.#refreshState();
  }

  #forwardRank(rank: TerminatorRank): void {
    for (const [connection, { bind }] of this.#attachments)
      if (bind !== undefined) connection.edge?.update(bind, rank);
  }

  /** The confirmation of the terminator may arrive before or after the bind's own response was handled. */
  #forwardHealth(connection: RouterConnection, { bind, isEstablished }: Attachment): void {
    if (this.#health !== undefined && bind !== undefined && isEstablished) {
      connection.edge?.reportHealth(bind, this.#health);
    }
  }

  #onBindClosed(connection: RouterConnection, attachment: Attachment, reason: string): void {
    if (this.#isClosed || this.#attachments.get(connection) !== attachment) return;
    this.#retry(connection, attachment, reason);
  }

  #retry(connection: RouterConnection, attachment: Attachment, reason: string): void {
    attachment.bind = undefined;
    attachment.isEstablished = false;
    // The end of a channel says nothing about the session.
    if (connection.isUp)
      this.#options.sessions.refused({ serviceId: this.#options.service.id, type: 'Bind' });
    const delayMs = attachment.backOff.next();
    this.#options.log.warn(
      { share: this.#options.service.name, reason, retryInMs: delayMs },
      'the share cannot be hosted at the moment',
    );
    attachment.timer = setTimeout(() => void this.#bind(connection, attachment), delayMs);
    this.#setState('failed', new Error(reason));
  }

  #refreshState(): void {
    const isBound = [...this.#attachments.values()].some(({ isEstablished }) => isEstablished);
    this.#setState(isBound ? 'bound' : 'binding');
  }

  #setState(state: HostingState, error?: Error): void {
    if (state === 'failed' && [...this.#attachments.values()].some(({ isEstablished }) => isEstablished))
      return;
    if (state === this.#state) return;
    this.#state = state;
    this.onState(state, error);
  }
}
