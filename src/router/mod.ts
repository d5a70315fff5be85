export { Router, type RouterOptions } from './router.ts';
export {
  loadEnrollableRouterConfig,
  loadRouterConfig,
  loadRunnableRouterConfig,
  namesAnything,
  parseRouterConfig,
} from './config/mod.ts';
export type { ConfigProblem, CsrConfig, RouterConfig } from './config/router-config.ts';
export { saveEndpointsFile } from './ctrl/endpoints-file.ts';
