// An agent of the benchmarks that may host its shares in clear. Arguments as JSON; prints its control socket.
import { mkdirSync } from 'node:fs';
import { openSdkNetwork, startAgent } from '#agent';
import { silentLog } from '#base';
import { OverlayClient, type BindableService } from '#sdk';

export interface AgentArguments {
  readonly dataDir: string;
  readonly apiUrl: string;
  /** CA certificates of the Management API (PEM). */
  readonly ca: string;
  readonly code: string;
  readonly name: string;
  /** Whether its circuits are in clear, as those of an agent without a key for end-to-end encryption. */
  readonly isClear: boolean;
}

const { dataDir, apiUrl, ca, code, name, isClear } = JSON.parse(process.argv[2]!) as AgentArguments;
const common = { version: '0.0.0-bench', log: silentLog };

/** A host without a key gets circuits in clear. */
class ClearHost extends OverlayClient {
  override bind(...[service, handler]: Parameters<OverlayClient['bind']>): ReturnType<OverlayClient['bind']> {
    const clear: BindableService = { id: service.id, name: service.name };
    return super.bind(clear, handler);
  }
}

mkdirSync(dataDir, { recursive: true, mode: 0o700 });
const agent = await startAgent({
  ...common,
  dataDir,
  allowTargets: [],
  openNetwork: () =>
    openSdkNetwork({
      ...common,
      dataDir,
      apiUrl,
      enrollmentToken: code,
      name,
      ca,
      openHost: (api) => new (isClear ? ClearHost : OverlayClient)({ api, log: silentLog, name }),
    }),
});
process.once('SIGTERM', () => void agent.close().then(() => process.exit(0)));
process.stdout.write(`${agent.socketPath}\n`);
