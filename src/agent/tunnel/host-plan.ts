/** What a service, its config and the identity make of the terminators that a tunnel hosts for it. */
import { formatHostPort, FrontdoorError, type HostPort } from '#base';
import {
  PRECEDENCE,
  type EdgeIdentity,
  type EdgeService,
  type TerminatorPrecedence,
  type TerminatorRank,
} from '#sdk';
import { decodeHosting, instanceIdOf, type HostTerminatorConfig, type TerminatorValues } from '#sdk/hosting';

export interface HostPlan {
  /** `<id of the service>.<position>`. */
  readonly key: string;
  readonly service: Pick<EdgeService, 'id' | 'name' | 'encryptionRequired'>;
  /** Address of the host within the service; empty for none. */
  readonly instanceId: string;
  readonly config: HostTerminatorConfig;
  /** Values without health checks. */
  readonly baseline: TerminatorValues;
}

/**
 * Returns one plan for each terminator. `target` is used instead of the service's config. The identity's value for a service
 * wins over the config of the service, and that over the identity's default.
 *
 * @throws FrontdoorError if the service has no config that says how to host it, or one that cannot be used.
 */
export function hostPlans(
  service: EdgeService,
  target: HostPort | undefined,
  identity: EdgeIdentity,
): readonly HostPlan[] {
  const entries = decodeHosting(
    target === undefined ? new Map(Object.entries(service.config)) : configOf(target),
  );
  if (entries.length === 0) throw noConfig(service.name);
  return entries.map((config, position) => {
    const { id, name, encryptionRequired } = service;
    const cost = identity.serviceHostingCosts[id] ?? config.listen.cost ?? identity.defaultHostingCost;
    const given = identity.serviceHostingPrecedences[id];
    const precedence =
      given === undefined
        ? (config.listen.precedence ?? PRECEDENCE[identity.defaultHostingPrecedence])
        : PRECEDENCE[given];
    return {
      key: `${id}.${position}`,
      service: { id, name, encryptionRequired },
      instanceId: instanceIdOf(config.listen.identity, identity),
      config,
      baseline: { cost, precedence },
    };
  });
}

/** The values as the SDK sends them. */
export function rankOf({ cost, precedence }: TerminatorValues): TerminatorRank {
  const names = Object.keys(PRECEDENCE) as TerminatorPrecedence[];
  return { cost, precedence: names.find((name) => PRECEDENCE[name] === precedence) };
}

/** For the log. */
export function targetText({ target }: HostTerminatorConfig): string {
  const { protocol = 'forwarded', address = 'forwarded', port = 0 } = target;
  return `${protocol} ${formatHostPort(address, port)}`;
}

function configOf({ host: address, port }: HostPort): ReadonlyMap<string, unknown> {
  return new Map([['host.v1', { protocol: 'tcp', address, port }]]);
}

function noConfig(service: string): FrontdoorError {
  const text = `${service} has no config of the type host.v1 or host.v2: add one, or give --service ${service}=HOST:PORT`;
  return new FrontdoorError('invalid', 'invalid-host-config', text);
}
