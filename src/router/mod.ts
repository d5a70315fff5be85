export { Router, type RouterOptions } from './router.ts';
export {
  loadEnrollableRouterConfig,
  loadRouterConfig,
  loadRunnableRouterConfig,
  parseRouterConfig,
} from './config/mod.ts';
export type { ConfigProblem, CsrConfig, RouterConfig } from './config/router-config.ts';
export { enrollRouterIdentity, type RouterEnrollmentOptions } from './enrollment/router-enrollment.ts';
export { NameServer, type NameServerOptions } from './tunnel/dns/name-server.ts';
export { identityProblem } from './identity/router-identity.ts';
