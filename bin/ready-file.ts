/** How a program reports that it is ready: to scripts by a file, written in one step and readable by its owner alone, and to systemd. */
import { resolve } from 'node:path';
import { writeFileDurably } from '#net/files';
import { serviceManager } from './service-manager.ts';

/** The content that `up --demo --ready-file` writes. */
export interface DemoReady {
  readonly shareUrl: string;
  /** URL of the gateway's plain HTTP port. */
  readonly gatewayUrl: string;
  /** Value for the `Host` header, without a port. */
  readonly shareHost: string;
  /** The Management API's base URL, without `/frontdoor`. */
  readonly apiUrl: string;
  readonly tokenUrl: string;
  readonly audience: string;
  readonly edgeApiUrl: string;
  /** Undefined without a console. */
  readonly consoleUrl: string | undefined;
  /** Address with a code, for the first person; after the first start only. */
  readonly consoleLink: string | undefined;
  readonly dataDir: string;
  readonly organizationId: string;
  readonly frontdoorId: string;
  readonly environmentId: string;
  readonly accountId: string;
  readonly apiToken: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Path for the `--socket` option of `frontdoor agent …`. */
  readonly agentSocket: string;
  readonly pids: { readonly up: number; readonly agent: number; readonly sample: number };
}

/** `path` undefined: only to systemd, if it started the program. */
export async function reportReady(path: string | undefined, content: object): Promise<void> {
  if (path !== undefined)
    await writeFileDurably(resolve(path), `${JSON.stringify(content, null, 2)}\n`, 0o600);
  serviceManager.ready();
}
