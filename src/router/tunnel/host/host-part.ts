/**
 * Hosts the services that the router's own identity may bind: one terminator for each entry of a service's config, which
 * is created at controllers, checked, and removed when the service is lost. Circuits to a service end when the identity
 * may no longer host it; they survive changes of its config.
 */
import { isDeepStrictEqual } from 'node:util';
import { FrontdoorError, messageOf, type Clock, type Log, type WorkerPool } from '#base';
import type { IpNetwork } from '#domain';
import { contentType } from '#wire';
import { RetryHint } from '#wire/circuits';
import { ctrlMessages, TerminatorInvalidReason } from '#wire/ctrl';
import { UdpDialer } from '#net/datagrams';
import type { XgressConfig } from '../../config/router-config.ts';
import type { Controllers, CtrlHandlers, InspectSource } from '../../ctrl/controllers.ts';
import type { TerminatorCheck } from '../../edge/terminator-messages.ts';
import { HostRefusal } from '../../forwarder/dial-refusal.ts';
import type { DataModel } from '../../model/data-model.ts';
import {
  CREATION_RETRY_MS,
  TerminatorCreations,
  type CreationAnswer,
} from '../../terminators/terminator-creations.ts';
import { terminatorRow } from '../../terminators/terminator-inspection.ts';
import { TerminatorRemovals } from '../../terminators/terminator-removals.ts';
import type { EgressDial, EgressDialers } from '../../xgress/egress-dialers.ts';
import type { XgressEnds } from '../../xgress/xgress-ends.ts';
import { ServiceCircuits } from '../services/service-circuits.ts';
import type { TunnelService } from '../services/tunnel-service.ts';
import type { TunnelServices } from '../services/tunnel-services.ts';
import { NameLookups } from '#net/names';
import { decodeHosting, FarEndDialer, ServiceChecks, serviceProbe, type ServiceProbe } from '#sdk/hosting';
import { HostDialer } from './host-dialer.ts';
import { planOf, precedenceOf, type HostedTerminator, type TerminatorPlan } from './hosted-terminator.ts';
import type { SourceAddresses } from './source-addresses.ts';
import { TerminatorIds } from './terminator-ids.ts';
import { TerminatorUpdates } from './terminator-updates.ts';

export interface HostPartOptions {
  readonly services: TunnelServices;
  readonly model: DataModel;
  readonly controllers: Controllers;
  /** Time limit for a controller's answer. */
  readonly requestTimeoutMs: number;
  /** The pool of `forwarder.rateLimited*`. */
  readonly rateLimiter: WorkerPool;
  readonly dialers: EgressDialers;
  readonly ends: XgressEnds;
  /** Options of the hosted circuits. */
  readonly config: XgressConfig;
  /** Without it, source addresses have to be the machine's already. */
  readonly sources?: SourceAddresses | undefined;
  /** Replaces the health checks over the network. */
  readonly probe?: ServiceProbe | undefined;
  /** Time from a new terminator to its first request; 2 s by default. */
  readonly settleMs?: number | undefined;
  /** Interval at which ids of an earlier run are looked at; a minute by default. */
  readonly pruneMs?: number | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

const BINDING = 'tunnel';
/** The policies that a controller also wants usually come together with the one that lets the router host. */
const SETTLE_MS = 2_000;
const MAX_RETRY_MS = 60_000;
const PRUNE_MS = 60_000;

export class HostPart {
  readonly terminatorChecks: readonly TerminatorCheck[];
  readonly #options: HostPartOptions;
  readonly #terminators = new Map<string, HostedTerminator>();
  /** By the id of the service, then by the key of the terminator. */
  readonly #byService = new Map<string, Map<string, HostedTerminator>>();
  readonly #circuits = new ServiceCircuits();
  readonly #ids: TerminatorIds;
  readonly #creations: TerminatorCreations<HostedTerminator>;
  readonly #removals: TerminatorRemovals;
  readonly #updates: TerminatorUpdates;
  readonly #checks: ServiceChecks<HostedTerminator>;
  readonly #dialer: HostDialer;
  readonly #unfollow: () => void;
  readonly #pruneTimer: NodeJS.Timeout;

  constructor(options: HostPartOptions) {
    this.#options = options;
    const { services, model, controllers, requestTimeoutMs, rateLimiter, dialers, log } = options;
    this.#ids = new TerminatorIds(model);
    this.#creations = new TerminatorCreations({
      controllers,
      requestTimeoutMs,
      pool: rateLimiter,
      log,
      frameOf: (terminator) => {
        this.#updates.onRequested(terminator);
        return creationOf(terminator);
      },
      retryMs,
      onAccepted: (terminator) => this.#updates.push(terminator.id),
      onRefused: (terminator) => this.#renew(terminator),
    });
    this.#removals = new TerminatorRemovals({
      controllers,
      requestTimeoutMs,
      log,
      isHosted: (id) => this.#terminators.has(id),
    });
    this.#updates = new TerminatorUpdates({ controllers, requestTimeoutMs, log });
    const names = new NameLookups();
    this.#checks = new ServiceChecks({
      ...options,
      probe: options.probe ?? serviceProbe(names.forSockets),
      onChanged: ({ id }) => this.#updates.push(id),
      onEvent: ({ id }, passed) => this.#updates.sendEvent(id, passed),
    });
    const farEnds = new FarEndDialer({ udp: new UdpDialer(options.clock), lookup: names.lookup });
    this.#dialer = new HostDialer({ ...options, farEnds });
    this.terminatorChecks = [this.#validate];
    dialers.add(BINDING, (dial) => this.#dial(dial));
    this.#unfollow = services.follow({
      gained: (service) => this.#host(service),
      changed: (service) => this.#host(service),
      lost: (service) => this.#leave(service),
    });
    this.#pruneTimer = setInterval(() => this.#prune(), options.pruneMs ?? PRUNE_MS);
  }

  handlers(): CtrlHandlers[] {
    const { createTunnelTerminatorV2Response } = ctrlMessages;
    return [
      new Map([
        [
          contentType.createTunnelTerminatorV2Response,
          (frame, from) =>
            this.#creations.onAnswer(createTunnelTerminatorV2Response.decode(frame.body), from),
        ],
      ]) satisfies CtrlHandlers,
    ];
  }

  readonly inspect: InspectSource = (name) => {
    if (name !== 'ert-terminators') return undefined;
    const entries = [...this.#terminators.values()].map(({ id, key, instanceId, values }) =>
      terminatorRow(
        { id, key, instanceId, cost: values.cost, precedence: precedenceOf(values) },
        this.#creations.progressOf(id),
      ),
    );
    return { entries, errors: [] };
  };

  /** Ends checks and requests. Terminators stay at the controllers, and circuits end with the ends of the router. */
  close(): void {
    clearInterval(this.#pruneTimer);
    this.#unfollow();
    this.#checks.close();
    this.#creations.close();
    this.#updates.close();
    this.#removals.close();
  }

  #host(service: TunnelService): void {
    if (!service.mayBind) {
      this.#leave(service);
      return;
    }
    this.#apply(service, this.#plansOf(service));
  }

  #leave(service: TunnelService): void {
    this.#apply(service, []);
    this.#circuits.end(service.id, `the router may no longer host ${service.name}`);
  }

  /** Returns nothing for a config that cannot be decoded, which is logged. */
  #plansOf(service: TunnelService): readonly TerminatorPlan[] {
    try {
      return decodeHosting(service.configs).map((config, position) => planOf(service, config, position));
    } catch (error) {
      this.#options.log.error({ service: service.name, problem: messageOf(error) }, 'config cannot be read');
      return [];
    }
  }

  #apply(service: TunnelService, plans: readonly TerminatorPlan[]): void {
    const standing = new Map(this.#byService.get(service.id));
    for (const plan of plans) {
      const terminator = standing.get(plan.key);
      if (terminator?.instanceId !== plan.instanceId) {
        this.#add(plan);
        continue;
      }
      standing.delete(plan.key);
      this.#change(terminator, plan);
    }
    const keys = new Set(plans.map(({ key }) => key));
    for (const terminator of standing.values()) {
      if (!keys.has(terminator.key)) this.#ids.delete(terminator.key);
      this.#remove(terminator);
    }
    this.#options.sources?.update(() => this.#allowedSources());
  }

  *#allowedSources(): Iterable<IpNetwork> {
    for (const { config } of this.#terminators.values())
      for (const { network } of config.allowedSources) yield network;
  }

  #add(plan: TerminatorPlan, delayMs = this.#options.settleMs ?? SETTLE_MS): void {
    const { id, isKept } = this.#ids.take(plan.key, plan.instanceId);
    const terminator: HostedTerminator = { ...plan, id, values: plan.baseline };
    this.#terminators.set(id, terminator);
    const ofService = this.#byService.get(plan.service.id) ?? new Map<string, HostedTerminator>();
    this.#byService.set(plan.service.id, ofService.set(plan.key, terminator));
    this.#updates.add(terminator, isKept);
    this.#creations.add(terminator, delayMs);
    this.#checks.start(terminator);
    this.#options.log.info({ service: plan.service.name, terminator: id }, 'hosting a service');
  }

  #change(terminator: HostedTerminator, { service, config, baseline }: TerminatorPlan): void {
    const isSame =
      isDeepStrictEqual(terminator.config, config) && isDeepStrictEqual(terminator.baseline, baseline);
    terminator.service = service;
    if (isSame) return;
    terminator.config = config;
    terminator.baseline = baseline;
    terminator.values = baseline;
    this.#updates.push(terminator.id);
    this.#checks.start(terminator);
  }

  #remove(terminator: HostedTerminator): void {
    this.#forget(terminator);
    this.#removals.add(terminator.id);
  }

  #forget(terminator: HostedTerminator): void {
    const { id, key, service } = terminator;
    this.#terminators.delete(id);
    const ofService = this.#byService.get(service.id);
    if (ofService?.get(key) === terminator) ofService.delete(key);
    if (ofService?.size === 0) this.#byService.delete(service.id);
    this.#checks.stop(id);
    this.#updates.delete(id);
    this.#creations.forget(id);
    this.#options.log.info({ service: service.name, terminator: id }, 'no longer hosting a service');
  }

  /** Controllers refuse an id that belongs to something else, which therefore is not removed. */
  #renew(terminator: HostedTerminator): void {
    this.#ids.delete(terminator.key);
    this.#forget(terminator);
    this.#add(terminator, MAX_RETRY_MS);
  }

  /** Removes the terminators of services that the router may no longer host since it ran before. */
  #prune(): void {
    const { model, controllers } = this.#options;
    if (model.index === 0n || controllers.best() === undefined) return;
    for (const id of this.#ids.prune((one) => this.#terminators.has(one))) this.#removals.add(id);
  }

  async #dial(dial: EgressDial): Promise<ReadonlyMap<number, Uint8Array>> {
    const { services, model } = this.#options;
    const terminator = this.#terminators.get(dial.destination);
    if (terminator === undefined) {
      const text = `terminator ${dial.destination} is not hosted here`;
      // The controller deletes a terminator that is unknown.
      if (model.index === 0n) throw new FrontdoorError('unavailable', 'no-data-model', `${text} yet`);
      throw new FrontdoorError('notFound', 'unknown-terminator', text);
    }
    const { id, name } = terminator.service;
    const isAllowed = (): boolean => services.accessFault(id, 'Bind') === undefined;
    if (!isAllowed()) throw new HostRefusal(`the router may not host ${name}`);
    const { end, connection, peerData } = await this.#dialer.dial(terminator, dial, isAllowed);
    this.#circuits.keep(id, end, connection);
    return peerData;
  }

  /** Before the first data model, this router does not know what it hosts, so that nothing is removed by mistake. */
  readonly #validate: TerminatorCheck = ({ id, binding }) => {
    if (binding !== BINDING) return undefined;
    const valid = this.#terminators.has(id) || this.#options.model.index === 0n;
    const detail = valid ? '' : 'not hosted here';
    return { valid, reason: TerminatorInvalidReason.UNKNOWN_TERMINATOR, detail };
  };
}

function creationOf({ id, service, instanceId, values }: HostedTerminator) {
  return ctrlMessages.createTunnelTerminatorV2.frame({
    serviceId: service.id,
    address: id,
    cost: values.cost,
    precedence: precedenceOf(values),
    instanceId,
    startTime: BigInt(Date.now()),
  });
}

/** Further policies can come at any time, so that a refusal is final only if the controller states it. */
function retryMs(failures: number, { retryHint }: CreationAnswer): number | undefined {
  if (retryHint === RetryHint.notRetriable) return undefined;
  return Math.min(MAX_RETRY_MS, CREATION_RETRY_MS * 2 ** Math.max(0, failures - 1));
}
