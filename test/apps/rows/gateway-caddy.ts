import type { TestedApp } from '../row.ts';

export const app: TestedApp = {
  name: 'gateway-behind-caddy',
  shows:
    'the gateway behind it: clients and scheme as they are, forged headers refused, WebSockets and sign-in',
  needs: { caddy: 'caddy' },
  test: 'test/e2e/gateway-proxies.test.ts',
  pattern: 'behind Caddy',
};
