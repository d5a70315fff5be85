import type { TestedApp } from '../row.ts';

export const app: TestedApp = {
  name: 'gateway-behind-haproxy',
  shows:
    'the gateway behind it: clients and scheme as they are, forged headers refused, WebSockets and sign-in',
  needs: { haproxy: 'haproxy' },
  test: 'test/e2e/gateway-proxies.test.ts',
  pattern: 'behind HAProxy',
};
