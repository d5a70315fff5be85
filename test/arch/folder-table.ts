/**
 * Which folder of a part may import which of its siblings, and why it stands where it does (ADR 0026). A row may name
 * only rows before it, so that no two folders stand on each other. The part's own files may import each folder, and no
 * folder imports them.
 */
export interface FolderRow {
  readonly may: readonly string[];
  /** Folders that its tests may import, too, to have real rows and a real server. */
  readonly tests?: readonly string[];
  readonly why: string;
}

type FolderTable = Readonly<Record<string, FolderRow>>;

const CONTROL: FolderTable = {
  store: {
    may: [],
    tests: ['secrets', 'credentials', 'overlay', 'shares', 'installation'],
    why: 'runs both databases behind one interface, and knows no row of a part',
  },
  secrets: {
    may: ['store'],
    why: 'holds the master keys, and encrypts the values of the store with another key',
  },
  'json-schema': {
    may: [],
    why: 'compiles JSON Schema for both front doors, which share no other code about bodies',
  },
  html: { may: [], why: 'escapes what pages contain' },
  'event-stream': {
    may: ['store'],
    why: 'sends events to readers, and checks credentials again when callers change',
  },
  audit: {
    may: ['store', 'secrets', 'event-stream'],
    tests: ['credentials'],
    why: 'writes events inside the transactions of other parts',
  },
  credentials: {
    may: ['store', 'secrets', 'audit'],
    why: 'keeps accounts, people, passwords, one-time passwords and keys of tokens, with the kind of their owner',
  },
  pki: {
    may: ['store', 'secrets'],
    tests: ['overlay'],
    why: 'seals its authorities and keeps them in the store',
  },
  backup: {
    may: ['store', 'secrets'],
    tests: ['overlay', 'shares', 'installation'],
    why: 'reads and writes every row',
  },
  overlay: {
    may: ['store', 'secrets', 'audit', 'credentials', 'pki'],
    tests: ['shares', 'ziti', 'installation'],
    why: 'knows identities, services, routers and circuits, and no front door, which project their services into it',
  },
  replica: {
    may: ['store', 'pki', 'overlay'],
    why: 'sends the measurements of the overlay to the other control planes',
  },
  installation: {
    may: ['store', 'secrets', 'audit', 'credentials', 'backup'],
    why: 'opens the database with its key file, backs it up before it migrates, and writes a new administrator',
  },
  shares: {
    may: [
      'store',
      'secrets',
      'json-schema',
      'html',
      'event-stream',
      'audit',
      'credentials',
      'pki',
      'backup',
      'overlay',
      'replica',
    ],
    tests: ['ziti', 'installation'],
    why: 'is the front door of shares: the Management API, agents and gateways; it does not import that of OpenZiti',
  },
  ziti: {
    may: ['store', 'secrets', 'json-schema', 'audit', 'credentials', 'pki', 'overlay', 'installation'],
    tests: ['shares'],
    why: "is the front door of OpenZiti's clients and administrators; it does not import that of shares",
  },
  console: {
    may: ['store', 'secrets', 'html', 'audit', 'credentials', 'shares'],
    tests: ['installation'],
    why: 'logs people in and serves their pages on the listener of the Management API, whose gate accepts the sessions',
  },
  wiring: {
    may: [
      'store',
      'secrets',
      'audit',
      'credentials',
      'pki',
      'backup',
      'overlay',
      'replica',
      'installation',
      'shares',
      'ziti',
      'console',
    ],
    why: 'opens all parts in order, and closes them in the reverse order; no part imports it',
  },
};

const OVERLAY: FolderTable = {
  records: { may: [], why: 'reads and writes the rows of the overlay' },
  enrollments: { may: [], why: 'stores the codes with which machines come in' },
  model: { may: ['records'], why: 'holds in memory what is stored, and what it permits' },
  clients: { may: ['records', 'model'], why: 'identifies who presents a certificate, a token or a session' },
  mesh: { may: [], why: 'keeps the connected routers and the links between them, and finds paths over them' },
  'data-model': {
    may: ['model', 'mesh'],
    why: 'sends routers who may dial and host what, in the form of OpenZiti',
  },
  permits: {
    may: ['model', 'clients', 'mesh'],
    why: 'judges what routers ask for others, and records what is refused',
  },
  terminators: {
    may: ['records', 'model', 'mesh', 'permits'],
    why: 'keeps where services are reached, takes the requests of routers about it, and measures it',
  },
  circuits: {
    may: ['model', 'mesh', 'permits', 'terminators'],
    why: 'builds, moves and ends circuits between routers, and ends what the model no longer permits',
  },
  routers: {
    may: ['records', 'model', 'clients', 'mesh', 'permits', 'terminators', 'circuits'],
    why: 'admits routers, renews their certificates, and takes their reports and inspections',
  },
};

const SHARES: FolderTable = {
  checks: { may: [], why: 'compiles schemas' },
  policy: { may: [], why: 'defines the stored form of a policy' },
  provider: { may: ['checks'], why: 'defines the stored form of a provider, with its secrets masked' },
  records: {
    may: ['policy', 'provider'],
    why: 'reads and writes the rows of shares and what belongs to them',
  },
  catalog: { may: ['records'], why: 'holds the shares in memory, and projects them into the overlay' },
  hostnames: { may: ['records'], why: 'asks DNS for the proofs of hostnames, and stores what it answers' },
  metrics: { may: ['records'], why: 'stores traffic counts and reads them as series' },
  notifications: {
    may: ['records', 'catalog'],
    why: 'notices what fails, and sends events to destinations of organizations',
  },
  'event-export': {
    may: ['notifications'],
    why: 'sends audit events and notification events to the collector of the operator',
  },
  changes: { may: ['catalog'], why: 'sends the changes of resources to readers' },
  logins: {
    may: ['provider', 'catalog'],
    tests: ['records'],
    why: 'logs visitors in at shares through providers',
  },
  'agent-api': {
    may: ['checks', 'policy', 'records', 'hostnames'],
    why: 'answers agents about their own shares',
  },
  'gateway-feed': {
    may: ['records', 'catalog', 'metrics', 'logins'],
    tests: ['provider'],
    why: 'sends shares to gateways, and takes their log-ins, records and counts',
  },
  operations: {
    may: [
      'checks',
      'policy',
      'provider',
      'records',
      'catalog',
      'hostnames',
      'metrics',
      'changes',
      'notifications',
      'event-export',
      'logins',
      'gateway-feed',
    ],
    why: 'answers the requests of the Management API, and sends commands to gateways',
  },
};

const ZITI: FolderTable = {
  query: { may: [], why: 'reads the query language of lists' },
  'client-api': { may: ['query'], why: 'answers clients' },
  'management-api': {
    may: ['query', 'client-api'],
    why: 'answers administrators through the server of the client API',
  },
};

const STORE: FolderTable = {
  schema: { may: [], why: 'describes the tables, and the differences between the two databases' },
  migrations: { may: ['schema'], why: 'creates and changes the tables' },
  engine: {
    may: ['schema', 'migrations'],
    why: 'runs both databases behind one interface, and applies migrations',
  },
};

const GATEWAY: FolderTable = {
  limits: { may: [], why: 'lists every bound of the data path' },
  http: { may: [], why: 'reads and writes heads and bodies' },
  certificates: { may: ['http'], why: 'selects the certificate for a host' },
  traffic: { may: [], why: 'counts bytes and requests' },
  shares: { may: ['http'], why: 'keeps the table of shares that the control plane sends' },
  answers: { may: ['http'], why: 'builds the answers of the gateway itself' },
  circuits: {
    may: ['limits', 'http', 'certificates', 'traffic', 'shares', 'answers'],
    why: 'finds the route of a request, and a circuit for it',
  },
  access: {
    may: ['http', 'certificates', 'shares', 'answers', 'circuits'],
    why: 'decides about a request by its route, and implements the listener of the feed of shares',
  },
  acme: {
    may: ['http', 'certificates', 'circuits', 'access'],
    why: 'obtains certificates, and answers the challenges of their authority',
  },
  services: {
    may: ['limits', 'http', 'circuits'],
    why: 'gives each request a circuit, or a stream of HTTP/2 over one',
  },
  exchange: {
    may: ['limits', 'http', 'shares', 'answers', 'circuits', 'services', 'access', 'acme'],
    why: 'serves one request over one circuit',
  },
  http2: {
    may: ['limits', 'http', 'circuits', 'exchange'],
    why: 'gives each stream of HTTP/2 a client connection of its own',
  },
  streams: {
    may: ['limits', 'certificates', 'shares', 'answers', 'circuits', 'access', 'exchange'],
    why: 'serves shares that do not speak HTTP, at ports and by names of TLS',
  },
  observe: {
    may: ['limits', 'http', 'answers', 'circuits', 'services', 'exchange'],
    why: 'implements the observer of exchanges: log, metrics, records',
  },
};

const ROUTER: FolderTable = {
  config: { may: [], why: 'reads the router file; `router check` loads nothing else' },
  profile: { may: [], why: 'takes profiles of the process' },
  ctrl: { may: ['config'], why: 'keeps channels to controllers; other folders add their handlers' },
  health: { may: ['config'], why: 'runs health checks' },
  identity: { may: ['config'], why: 'loads the certificates of the router' },
  enrollment: { may: ['config', 'ctrl'], why: 'trades a token for the files that the router file names' },
  renewal: {
    may: ['config', 'identity', 'ctrl'],
    why: 'renews the certificates of the router, by messages of controllers',
  },
  model: { may: ['ctrl'], why: 'keeps the data model that controllers send' },
  metrics: { may: ['config', 'ctrl'], why: 'counts, and reports to controllers' },
  trace: {
    may: ['config', 'profile', 'ctrl'],
    why: 'traces control channels and takes profiles, as the file asks',
  },
  web: { may: ['config', 'health'], why: 'serves health and metrics over HTTP' },
  forwarder: { may: ['ctrl', 'metrics'], why: 'moves frames between links and ends of circuits' },
  link: { may: ['config', 'ctrl', 'metrics', 'forwarder'], why: 'keeps channels to other routers' },
  xgress: {
    may: ['config', 'ctrl', 'metrics', 'forwarder'],
    why: 'holds the ends of circuits on this router',
  },
  terminators: { may: ['ctrl'], why: 'registers terminators with controllers' },
  edge: {
    may: ['config', 'ctrl', 'model', 'metrics', 'forwarder', 'xgress', 'terminators'],
    why: 'keeps channels to SDKs, and the ends of circuits that SDKs hold',
  },
  circuits: {
    may: ['config', 'ctrl', 'metrics', 'forwarder', 'xgress', 'edge'],
    why: 'applies the routes of controllers to the forwarder and the ends of circuits',
  },
  tunnel: {
    may: ['config', 'ctrl', 'model', 'forwarder', 'xgress', 'terminators', 'edge'],
    why: 'carries services for programs without an SDK, and follows the data model',
  },
};

const TUNNEL: FolderTable = {
  services: { may: [], why: 'derives the services of the own identity from the data model' },
  circuits: { may: ['services'], why: 'dials services as the own identity' },
  proxy: { may: ['services', 'circuits'], why: 'opens ports for services' },
  machine: { may: [], why: 'changes addresses of the machine, and notes what is changed' },
  dns: { may: ['machine'], why: 'answers queries for the names of services, and forwards the others' },
  tproxy: {
    may: ['services', 'circuits', 'dns', 'machine'],
    why: 'leads clients of the machine and its network to services',
  },
  host: { may: ['services', 'machine'], why: 'hosts services as the own identity' },
};

/** The tables by the folder whose subfolders they order. */
export const FOLDERS: Readonly<Record<string, FolderTable>> = {
  'src/control': CONTROL,
  'src/control/store': STORE,
  'src/control/overlay': OVERLAY,
  'src/control/shares': SHARES,
  'src/control/ziti': ZITI,
  'src/gateway': GATEWAY,
  'src/router': ROUTER,
  'src/router/tunnel': TUNNEL,
};

/** Parts whose folders are entered through a mod.ts, theirs or that of one of their folders. */
export const DOORED = 'src/control';
