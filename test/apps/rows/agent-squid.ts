import type { TestedApp } from '../row.ts';

export const app: TestedApp = {
  name: 'agent-behind-squid',
  shows:
    'an agent in a network without another exit enrolls, shares, and comes back after a restart of the proxy',
  needs: { squid: 'squid', nft: 'nftables', ss: 'iproute2' },
  test: 'test/e2e/outward-proxies.test.ts',
  pattern: 'agents behind squid enroll',
};
