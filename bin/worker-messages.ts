/** What a gateway's supervisor and its workers say to each other, over the pipe between them. */
import type { GatewayCommandOptions } from '#cli';
import type { KeptCertificate } from '#gateway';
import type { IdentityFile } from '#net';

export type ToWorker =
  | WorkerStart
  /** The certificate was renewed. */
  | { readonly type: 'identity'; readonly identity: IdentityFile }
  | { readonly type: 'reload' }
  /** Again without a time: cuts the drain short. */
  | { readonly type: 'stop'; readonly drainMs: number };

export interface WorkerStart {
  readonly type: 'start';
  readonly number: number;
  readonly workers: number;
  readonly options: GatewayCommandOptions;
  readonly dataDir: string;
  readonly version: string;
  readonly identity: IdentityFile;
  readonly plainPort: number;
  readonly securePort: number | null;
  /** Base64. */
  readonly ticketSecret: string;
  /** Null: HTTPS is off. */
  readonly certificates: readonly KeptCertificate[] | null;
}

export type FromWorker =
  | { readonly type: 'ready' }
  /** Every so often, by a timer: its loop turns. */
  | { readonly type: 'alive' }
  | { readonly type: 'failed'; readonly message: string };

export const ALIVE_MS = 2_000;

/** The worker's descriptors of its sockets, in the order of `WorkerPorts.fdsOf`: behind those of its pipes. */
export const FIRST_SOCKET_FD = 4;
