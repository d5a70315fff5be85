/** A terminator of the router's own identity: one entry of the config of a service that it hosts. */
import { TerminatorPrecedence } from '#wire/ctrl';
import { instanceIdOf, type HostTerminatorConfig, type TerminatorValues } from '#sdk/hosting';
import type { TunnelService } from '../services/tunnel-service.ts';

export interface HostedTerminator {
  /** Base62 id, which is also its address on the overlay. */
  readonly id: string;
  /** Names the entry across restarts: `<service id>.<position>`. */
  readonly key: string;
  /** Dialers can ask for it; empty for none. */
  readonly instanceId: string;
  service: TunnelService;
  config: HostTerminatorConfig;
  /** Values without health checks. */
  baseline: TerminatorValues;
  /** Values by the latest results of health checks. */
  values: TerminatorValues;
}

/** What a service and its config make of a terminator. */
export type TerminatorPlan = Pick<HostedTerminator, 'key' | 'instanceId' | 'service' | 'config' | 'baseline'>;

/**
 * The identity's override for a service wins over the config of the service, and that over the identity's default.
 *
 * @throws FrontdoorError `invalid-host-config` if the template of the instance id cannot be filled.
 */
export function planOf(
  service: TunnelService,
  config: HostTerminatorConfig,
  position: number,
): TerminatorPlan {
  const { id, identity, hosting } = service;
  const { listen } = config;
  const cost: number = hosting.cost ?? listen.cost ?? identity.defaultHosting.cost;
  const precedence: number = hosting.precedence ?? listen.precedence ?? identity.defaultHosting.precedence;
  return {
    key: `${id}.${position}`,
    instanceId: instanceIdOf(listen.identity, identity),
    service,
    config,
    baseline: { cost, precedence },
  };
}

/** The precedence in messages to controllers. */
export function precedenceOf({ precedence }: TerminatorValues): TerminatorPrecedence {
  const { DEFAULT, REQUIRED, FAILED } = TerminatorPrecedence;
  return [DEFAULT, REQUIRED, FAILED][precedence] ?? DEFAULT;
}
