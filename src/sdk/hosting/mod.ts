/**
 * What a host of services needs to follow their configs (`host.v1`, `host.v2`): which far ends a circuit may reach, how they
 * are connected to and checked. Tunnel routers and `frontdoor tunnel host` use it.
 */
export {
  grantOfName,
  hostNameOf,
  mayReach,
  parseAllowedAddresses,
  type AllowedAddresses,
} from './allowed-address-policy.ts';
export { decodeAppData } from './app-data.ts';
export { FarEndDialer, type FarEndDial } from './far-end-dialer.ts';
export { farEndOf, sourceAddressOf, type AppData, type FarEndRefusal } from './far-end-policy.ts';
export { type TerminatorValues } from './health-action-machine.ts';
export {
  decodeHosting,
  HOST_CONFIG_TYPES,
  type HealthCheckConfig,
  type HostTerminatorConfig,
} from './host-config.ts';
export { instanceIdOf } from './identity-template.ts';
export { ServiceChecks } from './service-checks.ts';
export { serviceProbe, type ServiceProbe } from './service-probe.ts';
