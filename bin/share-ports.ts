/** Where a gateway opens ports for shares that do not speak HTTP. */
import type { SharePortRange } from '#domain/gateway-shapes';
import type { SharePortPlace } from '#gateway';

export interface ShareRanges {
  readonly host: string;
  /** Undefined: none. */
  readonly tcp: SharePortRange | undefined;
  readonly udp: SharePortRange | undefined;
  /** Whether other processes of the gateway open the ports, too. */
  readonly isShared: boolean;
}

interface PortPlaces {
  readonly tcp: SharePortPlace | undefined;
  readonly udp: SharePortPlace | undefined;
}

export function portPlacesOf({ host, tcp, udp, isShared }: ShareRanges): PortPlaces {
  const placeOf = (range: SharePortRange | undefined): SharePortPlace | undefined =>
    range && { host, range, isShared };
  return { tcp: placeOf(tcp), udp: placeOf(udp) };
}
