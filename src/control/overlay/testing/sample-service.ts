/** A hosted service for tests that need one in memory. */
import type { ProjectedService } from '../model/service.ts';

export function sampleService(id: string, more: Partial<ProjectedService> = {}): ProjectedService {
  return {
    id,
    name: id,
    hostId: 'env',
    openTo: 'gateways',
    grants: [],
    routerRole: 'fd',
    endpoint: { protocol: 'tcp', clientPort: 80, server: { address: '127.0.0.1', port: 3000 } },
    tags: {},
    updatedAtMs: 0,
    ...more,
  };
}
