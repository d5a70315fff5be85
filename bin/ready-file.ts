/** The file that scripts wait for: written in one step, readable by its owner alone. */
import { resolve } from 'node:path';
import { writeFileDurably } from '#net';

/** What `up --demo --ready-file` tells. */
export interface DemoReady {
  readonly shareUrl: string;
  /** Plain HTTP. */
  readonly gatewayUrl: string;
  /** The Host to send, without a port. */
  readonly shareHost: string;
  /** {base_url}, without `/frontdoor`. */
  readonly apiUrl: string;
  readonly tokenUrl: string;
  readonly audience: string;
  readonly edgeApiUrl: string;
  readonly dataDir: string;
  readonly organizationId: string;
  readonly frontdoorId: string;
  readonly environmentId: string;
  readonly accountId: string;
  readonly apiToken: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What `frontdoor agent … --socket` takes. */
  readonly agentSocket: string;
  readonly pids: { readonly up: number; readonly agent: number; readonly sample: number };
}

export async function writeReadyFile(path: string | undefined, content: object): Promise<void> {
  if (path !== undefined)
    await writeFileDurably(resolve(path), `${JSON.stringify(content, null, 2)}\n`, 0o600);
}
