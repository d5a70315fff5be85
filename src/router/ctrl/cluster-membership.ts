/**
 * The set of controllers: read at start from the endpoints file or the configuration, then updated by messages of
 * controllers (1037, 1051, 1020) and saved in the file. While none of them can be reached, the controllers of the
 * configuration are dialed as well.
 */
import { textOf, type Log } from '#base';
import { contentType, formatAddress, makeFrame, parseAddress, type Frame } from '#wire';
import { ctrlMessages, type CtrlBody } from '#wire/ctrl';
import type { CtrlConfig } from '../config/router-config.ts';
import type { ControllerSet } from './controller-set.ts';
import type { Controller, CtrlHandlers } from './controllers.ts';
import {
  loadEndpointsFile,
  saveEndpointsFile,
  type KnownController,
  type KnownControllers,
} from './endpoints-file.ts';
import { decideMembership } from './membership-policy.ts';

export interface ClusterMembershipOptions {
  readonly config: CtrlConfig;
  readonly controllers: ControllerSet;
  readonly log: Log;
  /** Time without any controller after which those of the configuration are dialed as well; by default 5 s. */
  readonly returnAfterMs?: number | undefined;
}

const RETURN_AFTER_MS = 5_000;
const ASK_INTERVAL_MS = 30_000;
const MAX_CONTROLLERS = 100;
/** Key in Settings: the single address of the controllers from now on. */
const NEW_CTRL_ADDRESS = 1;

export class ClusterMembership {
  readonly #options: ClusterMembershipOptions;
  #index = 0n;
  #leaderIndex = 0n;
  #ids = new Set<string>();
  /** Endpoints of the last list. */
  #members: readonly string[] = [];
  /** Whether the controllers of the configuration are dialed beside those of the list. */
  #dialsConfigured = false;
  #returnTimer: NodeJS.Timeout | undefined;
  #askTimer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: ClusterMembershipOptions) {
    this.#options = options;
    const { controllers } = options;
    controllers.onConnected(() => {
      clearTimeout(this.#returnTimer);
      // Controllers with ids send a list, and that one decides.
      if (this.#dialsConfigured && this.#ids.size === 0) this.#leaveOthers();
    });
    controllers.onDisconnected(() => this.#returnLater());
  }

  /** Dials for the first time. Call it after `ControllerSet.start`. */
  async start(): Promise<void> {
    const { config, controllers, log } = this.#options;
    const known = await loadEndpointsFile(config.endpointsFile, log);
    if (known !== undefined) {
      log.info(
        { file: config.endpointsFile, endpoints: known.endpoints },
        'controllers read from the endpoints file',
      );
      this.#ids = new Set(known.controllers.map(({ id }) => id));
    }
    this.#members = known?.endpoints ?? config.endpoints.map(formatAddress);
    controllers.setEndpoints(this.#members);
    this.#returnLater();
  }

  /** Returns the controller with this id from the last list or the endpoints file. */
  isMember(id: string): boolean {
    return this.#ids.has(id);
  }

  /**
   * Called when an older data model replaced the current one: the network was restored, so a list with any index is
   * accepted again.
   */
  resetIndex(): void {
    this.#index = 0n;
    this.#leaderIndex = 0n;
  }

  handlers(): CtrlHandlers {
    return new Map([
      [contentType.updateCtrlAddresses, (frame, from) => this.#onAddresses(frame, from)],
      [contentType.updateClusterLeader, (frame, from) => this.#onLeader(frame, from)],
      [contentType.settings, (frame) => this.#onSettings(frame)],
    ]);
  }

  /** Waits until a pending write has finished. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#returnTimer);
    clearInterval(this.#askTimer);
    await this.#saving;
  }

  /** Ends dials of the configuration's controllers when one of the list in use has returned. */
  #leaveOthers(): void {
    const { controllers } = this.#options;
    const members = this.#members;
    if (!controllers.connectedEndpoints.some((endpoint) => members.includes(endpoint))) return;
    this.#dialsConfigured = false;
    controllers.setEndpoints(members);
  }

  /** A controller that stopped in order is in no list, and the others may be gone before it returns. */
  #returnLater(): void {
    const { config, controllers, log, returnAfterMs = RETURN_AFTER_MS } = this.#options;
    if (this.#isClosed || controllers.all().length > 0) return;
    clearTimeout(this.#returnTimer);
    this.#returnTimer = setTimeout(() => {
      const endpoints = config.endpoints.map(formatAddress);
      if (!controllers.setEndpoints(endpoints, true)) return;
      this.#dialsConfigured = true;
      log.warn({ endpoints }, 'no controller can be reached: dialing those of the configuration as well');
    }, returnAfterMs);
  }

  #onAddresses(frame: Frame, from: Controller): void {
    const { controllers, log } = this.#options;
    const update = ctrlMessages.updateCtrlAddresses.decode(frame.body);
    const known = this.#knownIn(update);
    const { index, isLeader } = update;
    const decision = decideMembership(
      { index: this.#index, connected: controllers.connectedEndpoints },
      { index, isLeader, endpoints: known.endpoints },
    );
    const fields = {
      controllerId: from.id,
      index: String(index),
      isLeader,
      endpoints: known.endpoints,
      use: decision.use,
    };
    log.info(fields, 'list of controllers received');
    if (decision.senderLeads) {
      this.#leaderIndex = index;
      controllers.setLeader(from.id);
    }
    if (decision.asksLeader) this.#askLeader();
    if (decision.use === 'add') {
      this.#dialsConfigured = false;
      controllers.setEndpoints(known.endpoints, true);
    }
    if (index === this.#index) this.#leaveOthers();
    if (decision.use !== 'replace') return;
    this.#stopAsking();
    this.#index = index;
    this.#use(known);
  }

  #onLeader(frame: Frame, from: Controller): void {
    const { index } = ctrlMessages.updateClusterLeader.decode(frame.body);
    if (this.#leaderIndex !== 0n && index <= this.#leaderIndex) return;
    this.#leaderIndex = index;
    this.#options.controllers.setLeader(from.id);
  }

  #onSettings(frame: Frame): void {
    const { data } = ctrlMessages.settings.decode(frame.body);
    const bytes = data[NEW_CTRL_ADDRESS];
    if (bytes === undefined) return;
    const text = textOf(bytes);
    const address = parseAddress(text);
    if (address === undefined) {
      this.#options.log.warn(
        { address: text.slice(0, 300) },
        'the new address of the controllers is not valid',
      );
      return;
    }
    this.#use({ controllers: [], endpoints: [formatAddress(address)] });
  }

  #use(known: KnownControllers): void {
    const { config, controllers, log } = this.#options;
    const ids = new Set(known.controllers.map(({ id }) => id));
    const hasOtherIds = ids.size !== this.#ids.size || [...ids].some((id) => !this.#ids.has(id));
    this.#ids = ids;
    this.#members = known.endpoints;
    if (!controllers.setEndpoints(known.endpoints) && !hasOtherIds) return;
    this.#saving = this.#saving.then(() => saveEndpointsFile(config.endpointsFile, known, log));
  }

  /**
   * Asks every 30 s until it receives a usable list. Controllers of version 1.x do not know the request and ignore it.
   */
  #askLeader(): void {
    const { controllers } = this.#options;
    const ask = (): void => {
      const leader = controllers.byId(controllers.leaderId) ?? controllers.best();
      leader?.channel.send(makeFrame(contentType.requestClusterMembers));
    };
    if (this.#askTimer !== undefined) return;
    this.#askTimer = setInterval(ask, ASK_INTERVAL_MS);
    ask();
  }

  #stopAsking(): void {
    clearInterval(this.#askTimer);
    this.#askTimer = undefined;
  }

  #knownIn(update: CtrlBody<'updateCtrlAddresses'>): KnownControllers {
    const controllers = update.controllers
      .slice(0, MAX_CONTROLLERS)
      .flatMap(({ id, endpoints }): KnownController[] => {
        const usable = endpoints.flatMap(({ address, groups }) => {
          const [known] = this.#addressesIn([address]);
          return known === undefined ? [] : [{ address: known, groups }];
        });
        return id === '' || usable.length === 0 ? [] : [{ id, endpoints: usable }];
      });
    const listed =
      controllers.length > 0
        ? controllers.flatMap(({ endpoints }) => endpoints.map(({ address }) => address))
        : this.#addressesIn(update.addresses.slice(0, MAX_CONTROLLERS));
    return { controllers, endpoints: [...new Set(listed)] };
  }

  #addressesIn(texts: readonly string[]): string[] {
    return texts.flatMap((text) => {
      const address = parseAddress(text);
      if (address !== undefined) return [formatAddress(address)];
      this.#options.log.warn({ address: text.slice(0, 300) }, 'an address of a controller is not valid');
      return [];
    });
  }
}
