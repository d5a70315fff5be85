export { Router, type RouterOptions } from './router.ts';
export { type ConfigProblem } from './config/config-reader.ts';
export {
  loadRouterConfig,
  namesAnything,
  parseRouterConfig,
  type CsrConfig,
  type RouterConfig,
} from './config/router-config.ts';
