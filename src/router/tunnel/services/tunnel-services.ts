/**
 * The services that the router's own identity may dial or bind. They are derived from the data model, and derived again
 * after its changes. The id of the identity is that of the router.
 */
import { isDeepStrictEqual } from 'node:util';
import { messageOf, textOf, type Log } from '#base';
import { compileReader, Part } from '#base/shapes';
import { contain, failAlone } from '#net';
import type { DataModel, Entity } from '../../model/data-model.ts';
import { accessFault, type AccessType } from '../../model/service-access.ts';
import type {
  TunnelHosting,
  TunnelIdentity,
  TunnelService,
  TunnelServiceListener,
} from './tunnel-service.ts';

export interface TunnelServicesOptions {
  readonly routerId: string;
  readonly model: DataModel;
  readonly log: Log;
}

/** Changes of the data model within this time are applied together. */
const CHANGE_DELAY_MS = 100;

type IdentityEntity = Extract<Entity, { case: 'identity' }>['value'];
type ServiceEntity = Extract<Entity, { case: 'service' }>['value'];
type ConfigEntity = Extract<Entity, { case: 'config' }>['value'];
type Json = { readonly value: unknown } | { readonly problem: string };

const readAppData = compileReader(Part.anyObject());

export class TunnelServices {
  readonly #options: TunnelServicesOptions;
  readonly #listeners = new Set<TunnelServiceListener>();
  /** Parsed configs. Entities are replaced when they change. */
  readonly #parsed = new WeakMap<ConfigEntity, Json>();
  readonly #leaveModel: () => void;
  #services: ReadonlyMap<string, TunnelService> = new Map();
  #timer: NodeJS.Timeout | undefined;
  /** Whether the model has the router's identity; undefined before the first model. */
  #hasIdentity: boolean | undefined;

  constructor(options: TunnelServicesOptions) {
    this.#options = options;
    this.#leaveModel = options.model.onChanged(() => this.#deriveSoon());
    this.#services = this.#derive();
  }

  get(id: string): TunnelService | undefined {
    return this.#services.get(id);
  }

  /** Notifies `listener` of all services now, and of changes until the returned function is called. */
  follow(listener: TunnelServiceListener): () => void {
    this.#listeners.add(listener);
    for (const service of this.#services.values())
      this.#notifyOne(listener, (it) => it.gained(service), service);
    return () => void this.#listeners.delete(listener);
  }

  /** Returns why the identity may not dial or bind a service now, or undefined if it may. */
  accessFault(serviceId: string, type: AccessType): string | undefined {
    const { model, routerId } = this.#options;
    return accessFault(model, routerId, serviceId, type, { posture: undefined, nowMs: Date.now() });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#leaveModel();
    this.#listeners.clear();
  }

  #deriveSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#update();
    }, CHANGE_DELAY_MS);
  }

  #update(): void {
    const before = this.#services;
    const now = this.#derive();
    this.#services = now;
    // Lost services come first, because another one may take over their ports and names.
    for (const [id, service] of before) if (!now.has(id)) this.#notify((it) => it.lost(service), service);
    for (const [id, service] of now) {
      const old = before.get(id);
      if (old === undefined) this.#notify((it) => it.gained(service), service);
      else if (!isDeepStrictEqual(old, service)) this.#notify((it) => it.changed(service, old), service);
    }
  }

  #notify(notify: (listener: TunnelServiceListener) => void, service: TunnelService): void {
    for (const listener of this.#listeners) this.#notifyOne(listener, notify, service);
  }

  #notifyOne(
    listener: TunnelServiceListener,
    notify: (listener: TunnelServiceListener) => void,
    { name }: TunnelService,
  ): void {
    try {
      notify(listener);
    } catch (error) {
      failAlone({ kind: 'record', id: `the service ${name}`, log: this.#options.log }, error);
    }
  }

  #derive(): ReadonlyMap<string, TunnelService> {
    const { model, routerId } = this.#options;
    const entity = model.entities('identity').get(routerId);
    const services = new Map<string, TunnelService>();
    this.#logIdentity(entity !== undefined);
    if (entity?.case !== 'identity' || entity.value.disabled) return services;
    const identity = this.#identityOf(entity.value);
    for (const serviceId of this.#relatedServices()) {
      const what = { kind: 'record', id: `the service ${serviceId}`, log: this.#options.log } as const;
      const service = contain(what, () => this.#serviceOf(serviceId, entity.value, identity));
      if (service !== undefined) services.set(service.id, service);
    }
    return services;
  }

  /** Undefined unless the identity may dial or bind it. */
  #serviceOf(serviceId: string, entity: IdentityEntity, identity: TunnelIdentity): TunnelService | undefined {
    const { model } = this.#options;
    const service = model.entities('service').get(serviceId);
    const mayDial = this.accessFault(serviceId, 'Dial') === undefined;
    const mayBind = this.accessFault(serviceId, 'Bind') === undefined;
    if (service?.case !== 'service' || (!mayDial && !mayBind)) return undefined;
    const { id, name, encryptionRequired } = service.value;
    return {
      id,
      name,
      encryptionRequired,
      mayDial,
      mayBind,
      configs: this.#configsOf(service.value, entity),
      identity,
      hosting: hostingOf(service.value, entity),
    };
  }

  #logIdentity(hasIdentity: boolean): void {
    const { model, routerId, log } = this.#options;
    if (model.index === 0n || hasIdentity === this.#hasIdentity) return;
    this.#hasIdentity = hasIdentity;
    if (hasIdentity) log.info({ identity: routerId }, 'the router has an identity for its tunnels');
    else
      log.warn(
        { identity: routerId },
        'the router has no identity, so that its tunnels carry no service: enable it as a tunneler at the controller',
      );
  }

  /** Returns the ids of all services in policies of the identity. */
  #relatedServices(): ReadonlySet<string> {
    const { model, routerId } = this.#options;
    const ids = new Set<string>();
    for (const policyId of model.policiesOf('identity', routerId))
      for (const id of model.relationsOf(policyId)?.service ?? []) ids.add(id);
    return ids;
  }

  #configsOf(service: ServiceEntity, identity: IdentityEntity): ReadonlyMap<string, unknown> {
    const configs = new Map<string, unknown>();
    const overrides = Object.values(identity.serviceConfigs[service.id]?.configs ?? {});
    const { model, log } = this.#options;
    for (const id of [...service.configs, ...overrides]) {
      const config = model.entities('config').get(id);
      if (config?.case !== 'config') continue;
      const type = model.entities('configType').get(config.value.typeId);
      if (type?.case !== 'configType') continue;
      const isKnown = this.#parsed.has(config.value);
      const json = this.#parse(config.value);
      if ('value' in json) configs.set(type.value.name, json.value);
      else if (!isKnown)
        log.error(
          { service: service.name, config: config.value.name, err: json.problem },
          'config is no JSON',
        );
    }
    return configs;
  }

  #parse(config: ConfigEntity): Json {
    const known = this.#parsed.get(config);
    if (known !== undefined) return known;
    const json = parseJson(config.dataJson);
    this.#parsed.set(config, json);
    return json;
  }

  #identityOf(entity: IdentityEntity): TunnelIdentity {
    const { id, name, appDataJson, defaultHostingCost, defaultHostingPrecedence } = entity;
    const json = appDataJson.length === 0 ? { value: {} } : parseJson(textOf(appDataJson));
    const appData = readAppData('value' in json ? json.value : {});
    return {
      id,
      name,
      appData: 'value' in appData ? appData.value : {},
      defaultHosting: { cost: defaultHostingCost, precedence: defaultHostingPrecedence },
    };
  }
}

function hostingOf({ id }: ServiceEntity, identity: IdentityEntity): TunnelHosting {
  return { cost: identity.serviceHostingCosts[id], precedence: identity.serviceHostingPrecedences[id] };
}

function parseJson(text: string): Json {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
