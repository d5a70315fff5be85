/**
 * Small files that one of our programs writes and another, or a later version, reads. Each holds its format number; files
 * of before there was one mean the first.
 */
import { Part, Shape, Type, type ShapeOf } from '#base/shapes';

const { count, lossyList, mapOf, nullable, oneOf, open, orElse, port, someText, text, texts, withDefault } =
  Part;

/** 0: no port is known. */
const knownPort = () => orElse(port(), 0);

/** `ports.json` of a data directory: the ports of the last start. */
export const portsFileShape = new Shape(
  Type.Object({
    http: knownPort(),
    https: knownPort(),
    api: knownPort(),
    edgeApi: knownPort(),
    ctrl: knownPort(),
    edge: knownPort(),
  }),
  { name: 'remembered ports', format: 1, formatField: 'format', remedy: 'upgrade frontdoor' },
);
export type RememberedPorts = ShapeOf<typeof portsFileShape.schema>;

/** `demo-credentials.json`: what the demo keeps in clear, so that a newcomer's second start prints working lines too. */
export const demoCredentialsShape = new Shape(
  Type.Object({
    frontdoorId: someText(),
    accountId: someText(),
    apiToken: someText(),
    organizationId: withDefault(text(), ''),
    clientId: withDefault(text(), ''),
    clientSecret: withDefault(text(), ''),
  }),
  {
    name: 'demo credentials',
    format: 1,
    formatField: 'format',
    remedy: 'upgrade frontdoor, or start the demo with another --data-dir',
  },
);

/** A file with an API account, which commands use: `first-secrets.json` and `admin-secrets.json` of a control plane. */
export const apiCredentialsShape = new Shape(
  Type.Object({
    accountId: someText(),
    apiToken: someText(),
    /** '' in a file of `control reset-admin`. */
    frontdoorId: withDefault(text(), ''),
  }),
  {
    name: 'file of API credentials',
    format: 1,
    formatField: 'format',
    remedy: 'use the command line of the version that wrote it',
  },
);

/** The first line that the sample service of the demo prints. */
export const sampleReadyShape = new Shape(Type.Object({ port: port(), pid: Type.Integer({ minimum: 1 }) }), {
  name: 'first line of the sample service',
  format: 1,
  formatField: 'format',
  remedy: 'start the demo again',
});

/** `acme/state.json` of a gateway: what it remembers of its orders at a certificate authority. */
export const certificateOrdersShape = new Shape(
  Type.Object({
    directoryUrl: withDefault(text(), ''),
    /** Names for which an order failed. */
    pauses: lossyList(
      'pauses',
      Type.Object({ name: someText(), failures: count(), nextAtMs: Type.Number({ minimum: 0 }) }),
    ),
    /** New certificates; renewals are not listed. */
    issued: lossyList(
      'issued',
      Type.Object({
        zone: someText(),
        atMs: Type.Number({ minimum: 0 }),
        organizationId: withDefault(text(), ''),
      }),
    ),
    /** Orders of new names, also those that failed. */
    orders: withDefault(
      lossyList('orders', Type.Object({ organizationId: text(), atMs: Type.Number({ minimum: 0 }) })),
      [],
    ),
  }),
  {
    name: 'state of automatic certificates',
    format: 1,
    formatField: 'format',
    remedy: 'upgrade this gateway',
  },
);
export type CertificateOrders = ShapeOf<typeof certificateOrdersShape.schema>;

/** A file of `acme/records/`: a TXT record that a gateway creates, until it has removed it. */
export const challengeRecordShape = new Shape(
  Type.Object({
    /** What creates it: `hook`, or the name of a DNS provider. */
    provider: someText(),
    name: someText(),
    target: someText(),
    value: someText(),
    atMs: Type.Number({ minimum: 0 }),
  }),
  { name: 'TXT record of a challenge', format: 1, formatField: 'format', remedy: 'upgrade this gateway' },
);
export type KeptChallengeRecord = ShapeOf<typeof challengeRecordShape.schema>;

/** A file of `acme/acme-dns/`: the account of a name at a server of acme-dns. The server answers a registration in this form, too. */
export const acmeDnsAccountShape = new Shape(
  Type.Object({
    /** The origin of the API. */
    server: someText(),
    username: someText(),
    password: someText(),
    fulldomain: someText(),
    subdomain: someText(),
  }),
  { name: 'account at acme-dns', format: 1, formatField: 'format', remedy: 'upgrade this gateway' },
);
export type AcmeDnsAccount = ShapeOf<typeof acmeDnsAccountShape.schema>;

/** `agent.lock`: the process that runs on a data directory, and where it listens. */
export const agentLockShape = new Shape(
  Type.Object({
    pid: Type.Integer({ minimum: 1 }),
    /** See the agent's `processStart`. */
    start: text(),
    socketPath: text(),
    version: text(),
  }),
  {
    name: 'agent lock',
    format: 1,
    formatField: 'format',
    remedy: 'stop the agent that runs there, or upgrade this one',
  },
);
export type LockHolder = ShapeOf<typeof agentLockShape.schema>;

/** `running.json` of a data directory: the program that serves it, and its addresses on this machine. */
export const runningProgramShape = new Shape(
  Type.Object({
    /** The command, for example `up --demo`. */
    program: someText(),
    pid: Type.Integer({ minimum: 1 }),
    /** See `processStart` of `#net/files`. */
    start: text(),
    version: text(),
    startedAtMs: count(),
    apiUrl: someText(),
    /** {base_url}: where others reach the Management API; empty in a note of an older version. */
    baseUrl: withDefault(text(), ''),
    /** Where agents and SDKs reach the edge API; likewise. */
    edgeApiUrl: withDefault(text(), ''),
    consoleUrl: nullable(text()),
    /** Null without a gateway in the same process. */
    gatewayUrl: nullable(text()),
  }),
  {
    name: 'note of the running program',
    format: 1,
    formatField: 'format',
    remedy: 'upgrade frontdoor',
  },
);
export type RunningProgram = ShapeOf<typeof runningProgramShape.schema>;

/** The agent's own targets, by share. An entry that cannot be read is forgotten: its share is refused until it is shared again. */
export const ownTargetsShape = new Shape(Type.Object({ targets: mapOf(text(), { lossy: 'targets' }) }), {
  name: 'list of own targets',
  format: 1,
  formatField: 'v',
  remedy: 'upgrade this agent',
});

const fileShareSchema = Type.Object({
  /** Its name, which is its token. */
  name: someText(),
  /** Id of the share; empty until the control plane has answered. */
  id: withDefault(text(), ''),
  /** Upstream settings that the file had: one that it no longer has is reset to its default. */
  upstream: withDefault(texts(), []),
});
export type FileShare = ShapeOf<typeof fileShareSchema>;

/** `agent-file-shares.json`: the shares that the configuration file made, so that those which it no longer has are released. */
export const fileSharesShape = new Shape(Type.Object({ shares: lossyList('shares', fileShareSchema) }), {
  name: 'list of shares of the configuration file',
  format: 1,
  formatField: 'v',
  remedy: 'upgrade this agent',
});

/** How programs on the agent's machine reach a private share: connections or datagrams. */
export const ACCESS_PROTOCOLS = ['tcp', 'udp'] as const;
export type AccessProtocol = (typeof ACCESS_PROTOCOLS)[number];

const keptAccessSchema = Type.Object({
  /** Token of the private share. */
  share: someText(),
  host: someText(),
  port: port(),
  protocol: withDefault(oneOf(...ACCESS_PROTOCOLS), 'tcp'),
});
export type KeptAccess = ShapeOf<typeof keptAccessSchema>;

/** `agent-accesses.json`: the private shares that commands made accessible on the agent's machine. */
export const keptAccessesShape = new Shape(
  Type.Object({ accesses: lossyList('accesses', keptAccessSchema) }),
  { name: 'list of accesses', format: 1, formatField: 'v', remedy: 'upgrade this agent' },
);

const namedAddressSchema = Type.Object({
  /** Host name in lower case. */
  name: someText(),
  /** IPv4 address. */
  address: someText(),
});
export type NamedAddress = ShapeOf<typeof namedAddressSchema>;

/** A line of the file in which a router keeps the addresses that it gave to the names of services. */
export const namedAddressShape = new Shape(namedAddressSchema, {
  name: 'address of a name',
  format: 1,
  formatField: 'v',
  remedy: 'upgrade this router',
});

/** The file in which a router notes what it changes on its machine, until it has changed it back. */
export const machineChangesShape = new Shape(
  Type.Object({
    /** In the names of its rules and addresses: eight hex digits each. */
    ids: lossyList('changes', Type.String({ pattern: '^[0-9a-f]{8}$' })),
  }),
  { name: 'changes on the machine', format: 1, formatField: 'v', remedy: 'upgrade this router' },
);

/** `control-planes.json`: the control planes that an agent or gateway knows. */
export const keptControlPlanesShape = new Shape(
  Type.Object({
    /** Address at which it enrolled; the list of another one is not used. */
    home: someText(),
    /** `https://host:port` of each edge API. */
    apiUrls: lossyList('control planes', someText(), { maxItems: 64 }),
  }),
  { name: 'list of control planes', format: 1, formatField: 'format', remedy: 'upgrade this program' },
);

const credentialsSchema = open({
  /** An API account with its token, or an OAuth client with its secret. */
  kind: oneOf('account', 'client'),
  id: someText(),
  secret: someText(),
});
/** What the Management API is called with. */
export type Credentials = ShapeOf<typeof credentialsSchema>;

const profileSchema = open({
  /** {base_url}, without `/frontdoor`. */
  apiUrl: someText(),
  credentials: credentialsSchema,
  organizationId: someText(),
  /** The frontdoor that commands use unless they name another one. */
  frontdoorId: Type.Optional(someText()),
  /** File of CA certificates (PEM) for the Management API. */
  ca: Type.Optional(someText()),
});
export type Profile = ShapeOf<typeof profileSchema>;

/**
 * The profiles of `frontdoor login`. Fields that this version does not know are kept: an older command line writes the
 * file of a newer one again. A profile that cannot be read loses itself.
 */
export const profilesShape = new Shape(open({ profiles: mapOf(profileSchema, { lossy: 'profiles' }) }), {
  name: 'profiles',
  format: 1,
  formatField: 'version',
  remedy: 'upgrade frontdoor, or remove the file and log in again',
});
export type ProfileFile = ShapeOf<typeof profilesShape.schema>;

export type Profiles = ProfileFile['profiles'];
