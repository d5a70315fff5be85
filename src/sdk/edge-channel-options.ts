/** What an edge channel is opened with, and what it dials and binds. */
import type { HostEncryption, IncomingDial } from './hosted-service.ts';

export interface ChannelBind {
  readonly connId: number;
  readonly token: string;
  readonly serviceId: string;
  readonly encryption?: HostEncryption | undefined;
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
  readonly isStandby?: boolean | undefined;
  /** Whether the dial fails if the host has no key for end-to-end encryption. */
  readonly isEncryptionRequired?: boolean | undefined;
}

export interface EdgeChannelOptions {
  readonly hasOtherWay: () => boolean;
  readonly onClosed: (reason: string) => void;
}
