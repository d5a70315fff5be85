/** The value `config` of inspections: the whole effective configuration without secrets. */
import type { RouterConfig } from '../config/router-config.ts';
import type { InspectSource } from './controllers.ts';

const SECRET = '(not shown)';
/** Keys of the configuration whose value may be a private key in PEM. */
const KEY_NAMES = new Set(['key', 'serverKey']);

export function configInspector(config: RouterConfig): InspectSource {
  return (name) => (name === 'config' ? shown(config) : undefined);
}

function shown(config: RouterConfig): unknown {
  const { warnings: _warnings, ...rest } = config;
  return JSON.parse(
    JSON.stringify(rest, (key, value: unknown) => {
      if (key === 'password' && value !== undefined) return SECRET;
      if (typeof value !== 'string' || !KEY_NAMES.has(key)) return value;
      return value.startsWith('pem:') || value.trimStart().startsWith('-----BEGIN') ? SECRET : value;
    }),
  );
}
