/** An agent with one share: the hosting of the SDK over channels that a simulation opens and loses. */
import { silentLog } from '#base';
import { FrameHeaders } from '#wire';
import { tokenOf } from '../../src/control/overlay/testing/overlay-world.ts';
import { EdgeChannel } from '../../src/sdk/edge-channel.ts';
import type { RouterConnection } from '../../src/sdk/router-connection.ts';
import { ServiceHosting } from '../../src/sdk/service-hosting.ts';
import { ServiceSessions } from '../../src/sdk/service-sessions.ts';
import { LossyChannel } from './lossy-channel.ts';
import type { SimulatedRouter } from './simulated-router.ts';

/** What the hosting sees of the connection to one router. */
interface Attachment {
  edge: EdgeChannel | undefined;
  isUp: boolean;
  channel: LossyChannel | undefined;
}

export interface SimulatedAgentOptions {
  readonly environmentId: string;
  readonly serviceId: string;
  /** The agent noticed that its channel to this router ended. */
  onLost(router: SimulatedRouter): void;
}

export class SimulatedAgent {
  readonly #options: SimulatedAgentOptions;
  readonly #attachments = new Map<string, Attachment>();
  readonly #hosting: ServiceHosting;
  #isKilled = false;

  constructor(options: SimulatedAgentOptions) {
    this.#options = options;
    const { environmentId, serviceId } = options;
    const token = tokenOf('Bind', serviceId, environmentId);
    this.#hosting = new ServiceHosting({
      service: { id: serviceId, name: serviceId },
      handler: (incoming) => incoming.accept().resume(),
      log: silentLog,
      sessions: new ServiceSessions({
        create: async () => ({ id: token, token, serviceId, type: 'Bind', routers: [] }),
      }),
      onClosed: () => {},
    });
  }

  /** The open channel to a router, which may be lost without its ends having noticed. */
  channelTo({ id }: SimulatedRouter): LossyChannel | undefined {
    return this.#attachments.get(id)?.channel;
  }

  connect(router: SimulatedRouter): void {
    if (this.#isKilled || this.channelTo(router) !== undefined) return;
    const { environmentId, onLost } = this.#options;
    const peer = (id: string, fingerprint: string) => ({
      id,
      fingerprint,
      address: 'lossy',
      hello: FrameHeaders.empty,
    });
    const channel = new LossyChannel(peer(router.id, ''), peer(environmentId, `fp-${environmentId}`));
    const attachment = this.#attachments.get(router.id) ?? {
      edge: undefined,
      isUp: false,
      channel: undefined,
    };
    this.#attachments.set(router.id, attachment);
    router.accept(channel.far, environmentId);
    const connection = attachment as unknown as RouterConnection;
    Object.assign(attachment, { channel, isUp: true });
    attachment.edge = new EdgeChannel(channel.near, silentLog, {
      hasOtherWay: () => false,
      onClosed: () => {
        Object.assign(attachment, { edge: undefined, isUp: false, channel: undefined });
        if (this.#isKilled) return;
        this.#hosting.detach(connection);
        onLost(router);
      },
    });
    this.#hosting.attach(connection);
  }

  /** Ends like a process that is killed: nothing is withdrawn. */
  kill(): void {
    this.#isKilled = true;
    for (const { channel } of [...this.#attachments.values()]) channel?.near.close('killed');
  }
}
