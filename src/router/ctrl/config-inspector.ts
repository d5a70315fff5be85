/** The value `config` of inspections: the whole effective configuration, in which secrets hide themselves. */
import type { RouterConfig } from '../config/router-config.ts';
import type { InspectSource } from './controllers.ts';

export function configInspector(config: RouterConfig): InspectSource {
  return (name) => (name === 'config' ? shown(config) : undefined);
}

function shown(config: RouterConfig): unknown {
  const { warnings: _warnings, ...rest } = config;
  return JSON.parse(JSON.stringify(rest));
}
