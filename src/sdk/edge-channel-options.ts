/** What an edge channel is opened with, and what it dials and binds. */
import type { HostEncryption, IncomingDial } from './hosted-service.ts';
import type { TerminatorOptions } from './terminator-options.ts';

export interface ChannelBind {
  readonly connId: number;
  readonly token: string;
  readonly serviceId: string;
  readonly encryption?: HostEncryption | undefined;
  readonly terminator?: TerminatorOptions | undefined;
  readonly onDial: (incoming: IncomingDial) => void;
  /** The controller confirmed the terminator to the router. */
  readonly onEstablished: () => void;
  readonly onClosed: (reason: string) => void;
}

/** One dial over this channel. */
export interface ChannelDial {
  /** The token of the service session. */
  readonly token: string;
  readonly callerId: string;
  readonly timeoutMs: number;
  /** Whether the host should connect to its service only when bytes arrive. */
  readonly isStandby?: boolean | undefined;
  /** Application data for the host. A standby dial has none of its caller's. */
  readonly appData?: Uint8Array | undefined;
  /** Address of the host to dial. By default a host without an address is dialed. */
  readonly terminator?: string | undefined;
  /** Whether the dial fails if the host has no key for end-to-end encryption. */
  readonly isEncryptionRequired?: boolean | undefined;
}

export interface EdgeChannelOptions {
  readonly hasOtherWay: () => boolean;
  readonly onClosed: (reason: string) => void;
}
