import type { TestedApp } from '../row.ts';

export const app: TestedApp = {
  name: 'proxy-protocol',
  shows: 'nginx and HAProxy as services learn the client of each connection, with --proxy-protocol v1 and v2',
  needs: { nginx: 'nginx', haproxy: 'haproxy' },
  test: 'src/agent/named-clients.test.ts',
  pattern: 'learns the client of each connection',
};
