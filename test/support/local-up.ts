/** All parts of `frontdoor up` in this process, on free ports of this machine. */
import { startUp, type Up, type UpOptions } from '../../bin/up.ts';
import '../../src/control/pki/edge-api-key-fixture.ts';

export type LocalUpOptions = Pick<UpOptions, 'dataDir' | 'log'> & Partial<UpOptions>;

export function startLocalUp(options: LocalUpOptions): Promise<Up> {
  return startUp({
    listenHost: '127.0.0.1',
    advertiseHost: 'localhost',
    ports: { http: 0, https: 0, api: 0, edgeApi: 0, ctrl: 0, edge: 0 },
    anyPort: true,
    zone: 'share.localhost',
    version: '0.0.0-test',
    ...options,
  });
}
