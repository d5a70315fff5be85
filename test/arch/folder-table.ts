/**
 * Which folder of a part may import which of its siblings, and why it stands where it does (ADR 0026). A row may name
 * only rows before it, so that no two folders stand on each other. The part's own files may import each folder, and no
 * folder imports them.
 */
export interface FolderRow {
  readonly may: readonly string[];
  readonly why: string;
}

type FolderTable = Readonly<Record<string, FolderRow>>;

const CONTROL: FolderTable = {
  secrets: { may: [], why: 'holds the master keys and uses nothing else of the control plane' },
  checks: { may: [], why: 'compiles schemas; only the parts that check the data of others load it' },
  'entity-query': { may: [], why: 'reads the query language of lists; both edge APIs filter with it' },
  policy: { may: ['secrets'], why: 'defines the stored form of a policy, which the store reads and writes' },
  provider: {
    may: ['secrets', 'checks'],
    why: 'defines the stored form of a provider, with its secrets masked',
  },
  html: { may: [], why: 'escapes what pages contain' },
  store: {
    may: ['secrets', 'policy', 'provider'],
    why: 'reads and writes rows, policies and providers among them',
  },
  totp: {
    may: ['secrets', 'store'],
    why: 'makes and examines one-time passwords of machines and of people, whose state the store keeps',
  },
  metrics: { may: ['store'], why: 'stores traffic counts and reads them as series' },
  model: { may: ['secrets', 'store'], why: 'keeps stored resources and measurements in memory' },
  sealing: { may: ['secrets', 'store'], why: 'encrypts the values of the store with another key' },
  pki: { may: ['secrets', 'store'], why: 'seals its authorities and keeps them in the store' },
  backup: { may: ['secrets', 'store'], why: 'reads and writes every row' },
  'event-stream': {
    may: ['store', 'model'],
    why: 'sends events to readers; it checks credentials again when the store reports a change of callers',
  },
  audit: {
    may: ['secrets', 'store', 'model', 'pki', 'event-stream'],
    why: 'writes events inside the transactions of other parts, and names the owner of a refused certificate',
  },
  hostnames: {
    may: ['store', 'audit'],
    why: 'asks DNS for the proofs of hostnames, and stores what it answers with an event for each change',
  },
  installation: {
    may: ['secrets', 'store', 'backup', 'audit', 'sealing'],
    why: 'backs a database up before it migrates, and writes the first rows and a new administrator, with an event for each',
  },
  oauth: {
    may: ['secrets', 'store', 'audit'],
    why: 'authenticates callers by stored accounts, and writes an event when a key is rotated',
  },
  login: {
    may: ['secrets', 'provider', 'store', 'model', 'audit', 'oauth'],
    why: 'logs visitors in at shares through providers, writes an event, and uses the token lifetimes of oauth',
  },
  overlay: {
    may: ['secrets', 'store', 'model', 'pki', 'audit'],
    why: 'follows the model, verifies certificates, stores terminators, and writes an event for a refused router',
  },
  replica: {
    may: ['store', 'model', 'pki', 'overlay'],
    why: 'sends the measurements of the overlay to the other control planes',
  },
  'management-api': {
    may: [
      ...['secrets', 'checks', 'policy', 'provider', 'store', 'metrics', 'model', 'backup', 'event-stream'],
      ...['html', 'totp', 'audit', 'hostnames', 'installation', 'oauth', 'login', 'overlay', 'replica'],
      ...['pki', 'sealing'],
    ],
    why: 'answers requests with all parts below; no part imports it',
  },
  'console-app': { may: [], why: 'builds the browser program and finds what was built' },
  console: {
    may: [
      ...['secrets', 'html', 'policy', 'store', 'totp', 'audit', 'oauth', 'login', 'management-api'],
      'console-app',
    ],
    why: 'logs people in and serves their pages on the listener of the Management API, whose gate accepts the sessions',
  },
  'edge-api': {
    may: [
      ...[
        'secrets',
        'policy',
        'entity-query',
        'provider',
        'store',
        'metrics',
        'model',
        'pki',
        'audit',
        'oauth',
        'login',
        'totp',
      ],
    ],
    why: 'answers clients, agents and gateways; it does not import the Management API',
  },
  'edge-management': {
    may: [
      ...['secrets', 'entity-query', 'policy', 'store', 'model', 'pki', 'audit', 'installation', 'oauth'],
      ...['totp', 'edge-api'],
    ],
    why: 'answers administrators through the server, envelopes and errors of the edge API, and reads authorities and one-time passwords',
  },
  wiring: {
    may: [
      ...[
        'secrets',
        'store',
        'metrics',
        'model',
        'pki',
        'backup',
        'sealing',
        'audit',
        'hostnames',
        'installation',
        'oauth',
        'login',
      ],
      ...[
        'backup',
        'overlay',
        'replica',
        'management-api',
        'console-app',
        'console',
        'edge-api',
        'edge-management',
      ],
    ],
    why: 'opens all parts in order, and closes them in the reverse order; no part imports it',
  },
};

const STORE: FolderTable = {
  schema: { may: [], why: 'describes the tables, and the differences between the two databases' },
  migrations: { may: ['schema'], why: 'creates and changes the tables' },
  engine: {
    may: ['schema', 'migrations'],
    why: 'runs both databases behind one interface, and applies migrations',
  },
  records: { may: ['schema', 'engine'], why: 'reads and writes each resource' },
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
  exchange: {
    may: ['limits', 'http', 'traffic', 'shares', 'answers', 'circuits', 'access', 'acme'],
    why: 'serves one request over one circuit',
  },
  observe: {
    may: ['limits', 'http', 'answers', 'circuits', 'exchange'],
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
  web: { may: ['config', 'health', 'metrics'], why: 'serves health and metrics over HTTP' },
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
    may: [...['config', 'ctrl', 'model', 'forwarder', 'xgress', 'terminators'], 'edge'],
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
  'src/gateway': GATEWAY,
  'src/router': ROUTER,
  'src/router/tunnel': TUNNEL,
};

/** Parts whose folders have a door, their mod.ts, and whose tests keep the arrows too. */
export const DOORED = 'src/control';
