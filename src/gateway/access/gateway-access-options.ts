/** What the access control of a gateway is made with. */
import type { Clock, Log } from '#base';
import type { DomainCertificate, SharePortRange } from '#domain/gateway-shapes';
import type { AccessLimits } from './access-limits.ts';
import type { LoginControl } from './login-control.ts';

export interface GatewayAccessOptions {
  readonly control: LoginControl;
  /** The port of the gateways' HTTPS as browsers see it; undefined if there is none. */
  readonly publicHttpsPort: () => number | undefined;
  readonly log: Log;
  /** Hostnames of custom frontends for which this gateway has certificates. */
  readonly certifiedZones?: () => readonly string[];
  /** The next part of what is to be reported of the certificates of shares' domains. */
  readonly domains?: (() => readonly DomainCertificate[]) | undefined;
  /**
   * Whether a name (canonical) has a certificate that clients accept. Absent: no request over plain HTTP is redirected to HTTPS,
   * except at sign-ins.
   */
  readonly isCertified?: ((host: string) => boolean) | undefined;
  readonly onZonesChanged?: (() => void) | undefined;
  /** The ports that the gateway opens for shares, which it reports; undefined: none. */
  readonly tcpPorts?: SharePortRange | undefined;
  readonly udpPorts?: SharePortRange | undefined;
  readonly clock?: Clock;
  /** Monotonic milliseconds, which changes of the clock do not affect. */
  readonly monotonicMs?: () => number;
  readonly limits?: Partial<AccessLimits>;
}
