/** What a control plane is started with, and what its program gets of it. */
import type { Socket } from 'node:net';
import type { Clock, Log } from '#base';
import type { AllowedNetwork, IpNetwork } from '#domain';
import type { Channel, MemoryPeer } from '#net/channel';
import type { MetricsWriter, ReadinessCheck } from '#net/metrics';
import type { MailSettings } from '../shares/notifications/mod.ts';
import type { ApiLimits, ApiTls } from '../shares/operations/mod.ts';
import type { TrustedIssuer } from '../credentials/oauth/mod.ts';
import type { LocalEnds } from '../overlay/mod.ts';
import type { FirstStart } from '../shares/records/mod.ts';
import type { MigrationCopies } from '../store/mod.ts';
import type { PublicApiUrl } from './public-api-url.ts';

export interface ControlPlaneOptions {
  /** Created if absent. */
  readonly dataDir: string;
  /** A `postgres:` URL of the store, which replaces the file in the data directory. */
  readonly database?: string | undefined;
  /** Copies of the database from before migrations; by default three, in the data directory. */
  readonly copies?: MigrationCopies | undefined;
  readonly listenHost: string;
  /** Host that clients, agents and routers dial. */
  readonly advertiseHost: string;
  /** Further hosts at which agents, gateways and SDKs reach the edge API. */
  readonly moreAdvertiseHosts?: readonly string[] | undefined;
  /** Called for each dial. Undefined: gateways and routers run in processes of their own. */
  readonly localEnds?: (() => LocalEnds | undefined) | undefined;
  readonly edgeManagement?: boolean | undefined;
  /** Serves the console below `/console`, which it does by default. */
  readonly hasConsole?: boolean | undefined;
  /** The link of the first start is for this person. */
  readonly firstOperatorEmail?: string | undefined;
  /** 0 selects a free port. */
  readonly apiPort: number;
  readonly edgeApiPort: number;
  /** The edge API is at a port that the program shares: `edgeApiPort` is that port, and `acceptEdge` takes its connections. */
  readonly isEdgeApiPortShared?: boolean | undefined;
  readonly ctrlPort: number;
  /** Host at which routers dial this control plane and no other; by default `advertiseHost`. */
  readonly ctrlHost?: string | undefined;
  /** TLS for the Management API (PEM). Without it the API uses plain HTTP, on loopback only. */
  readonly apiTls?: ApiTls | undefined;
  /**
   * Without `apiTls`, the Management API has the certificate of the edge API, of the installation's own authority, which this
   * file is written with.
   */
  readonly ownApiAuthorityFile?: string | undefined;
  /**
   * Name of the Management API whose certificate comes by `setApiTls`. Until then, and without `apiTls`, the API has a
   * certificate of the installation's own authority.
   */
  readonly apiName?: string | undefined;
  /** {base_url} and {auth_url} behind a proxy; by default the address that it listens on. */
  readonly publicApiUrl?: PublicApiUrl | undefined;
  readonly trustedProxies?: readonly IpNetwork[] | undefined;
  /** Zone of the default frontend, set on the first start. */
  readonly zone: string;
  /** Domain of the addresses at which tunnelers find private shares; undefined: they have none. */
  readonly interceptDomain?: string | undefined;
  /** Shows or stores the secrets of the first start, before anything else can fail. */
  readonly onFirstStart?: ((first: FirstStart) => Promise<void> | void) | undefined;
  /** Returns the URLs under which gateways serve a public share's host. Called for each response. */
  readonly frontendUrls: (host: string) => readonly string[];
  /** Port of HTTPS as browsers see it, if no URL of `frontendUrls` has one; 443 if not known. */
  readonly securePort?: () => number | undefined;
  readonly limits?: Partial<ApiLimits> | undefined;
  /** Trusted token issuers besides our own. */
  readonly trustedIssuers?: readonly TrustedIssuer[] | undefined;
  /** Networks, besides the public internet, from which addresses named by others may be fetched. */
  readonly allowEgress?: readonly AllowedNetwork[] | undefined;
  readonly dnsServers?: readonly string[] | undefined;
  /** The server that sends mail; undefined: notifications go to webhooks only. */
  readonly mail?: MailSettings | undefined;
  /** The product's version, for people and for parts that connect. */
  readonly version?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly log: Log;
}

export interface ControlPlane {
  /** Address of the Management API on this machine: `http(s)://host:port`, and the path of {base_url}. */
  readonly apiUrl: string;
  /** {base_url}. */
  readonly baseUrl: string;
  /** `https://host:port` of the edge client API. */
  readonly edgeApiUrl: string;
  /** `tls:host:port`, which routers dial. */
  readonly ctrlAddress: string;
  /** Secrets and ids from the first start of this data directory. They are never shown again. */
  readonly firstStart: FirstStart | undefined;
  /** Undefined without a console. */
  readonly consoleUrl: string | undefined;
  /** Address with a code, at which one person becomes the first operator; after the first start only. */
  readonly consoleLink: string | undefined;
  /** Creates a router or gateway of this installation, with its enrollment JWT. */
  createFabricNode(
    kind: 'router' | 'gateway',
    name: string,
  ): Promise<{ readonly id: string; readonly token: string }>;
  /**
   * Replaces the certificate of the Management API for new connections. Throws `invalid` and keeps the former one
   * if it cannot be used.
   */
  setApiTls(tls: ApiTls): void;
  /** Takes a connection to the edge API before TLS, from a port that the program shares. */
  acceptEdge(socket: Socket): void;
  /** Takes a connection to the Management API before TLS, from such a port. Only for an API that is served over TLS. */
  acceptApi(socket: Socket): void;
  /** Connects a router of this process. Rejects with `channel-refused`. */
  acceptRouter(peer: MemoryPeer): Promise<Channel>;
  /** What it needs to serve. */
  readonly readiness: readonly ReadinessCheck[];
  /** For Prometheus. */
  readonly writeMetrics: MetricsWriter;
  /** Issues a certificate of our own authority for every public share of the zone. Browsers do not trust it. */
  frontendCertificate(zone: string): Promise<{ readonly cert: string; readonly key: string }>;
  /**
   * With `drainMs`, it announces the stop first and continues to serve until routers have connected to another
   * control plane, for at most 10 s of that time.
   */
  close(drainMs?: number): Promise<void>;
}
