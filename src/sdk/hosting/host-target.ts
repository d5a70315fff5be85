/** What the circuits of a hosted service may reach, and from where, as its config says. */
import type { IpNetwork } from '#domain';
import type { AddressTranslation } from './address-translation-policy.ts';
import type { AllowedAddresses } from './allowed-address-policy.ts';

export type HostProtocol = 'tcp' | 'udp';

export interface PortRange {
  /** Both ends are included. */
  readonly low: number;
  readonly high: number;
}

/** The far ends that the circuits of one terminator may reach. The dialer chooses the parts that are undefined. */
export interface HostTarget {
  readonly protocol: HostProtocol | undefined;
  readonly allowedProtocols: readonly HostProtocol[];
  readonly address: string | undefined;
  readonly allowedAddresses: AllowedAddresses;
  /** The longest prefix comes first. */
  readonly translations: readonly AddressTranslation[];
  readonly port: number | undefined;
  readonly allowedPorts: readonly PortRange[];
}

export interface AllowedSource {
  readonly text: string;
  readonly network: IpNetwork;
}
