/**
 * Which folder of a part may import which of its siblings, and why it stands where it does (ADR 0026). A row may name
 * only rows before it, so that no two folders stand on each other. The part's own files put the folders together: they
 * may import each, and no folder imports them.
 */
export interface FolderRow {
  readonly may: readonly string[];
  readonly why: string;
}

type FolderTable = Readonly<Record<string, FolderRow>>;

const CONTROL: FolderTable = {
  secrets: { may: [], why: 'the master keys, known to nothing else' },
  checks: { may: [], why: 'the compiler of schemas, loaded only by who checks what others send' },
  policy: { may: ['secrets'], why: 'what a stored policy means; the store reads and writes that form' },
  provider: { may: ['secrets', 'checks'], why: 'what a stored provider means, and its secrets masked' },
  store: { may: ['secrets', 'policy', 'provider'], why: 'rows and queries; knows what their columns mean' },
  metrics: { may: ['store'], why: 'rows of their own, and how they are read' },
  model: { may: ['secrets', 'store'], why: 'what the store holds and what is measured, in memory' },
  pki: { may: ['secrets', 'store'], why: 'keeps its authorities sealed in the store' },
  backup: { may: ['secrets', 'store'], why: 'all rows, out and in' },
  audit: {
    may: ['secrets', 'store', 'model', 'pki'],
    why: 'events in the transactions of others, and whose certificate was refused',
  },
  installation: {
    may: ['secrets', 'store', 'audit'],
    why: 'first rows and a new administrator, with their events',
  },
  oauth: { may: ['secrets', 'store', 'audit'], why: 'who calls the Management API; rotations are events' },
  login: {
    may: ['secrets', 'provider', 'store', 'model', 'audit', 'oauth'],
    why: 'log-ins at shares of the model, by providers, with their events; token lifetimes are those of oauth',
  },
  overlay: {
    may: ['secrets', 'store', 'model', 'pki', 'audit'],
    why: 'the controller: follows the model, proves certificates, keeps terminators',
  },
  replica: { may: ['store', 'model', 'pki', 'overlay'], why: 'shares with others what the overlay measures' },
  'management-api': {
    may: [
      ...['secrets', 'checks', 'policy', 'provider', 'store', 'metrics', 'model', 'backup', 'audit'],
      ...['installation', 'oauth', 'login', 'overlay', 'replica'],
    ],
    why: 'an edge: gives what parts refuse the form of its answers, and is known to none',
  },
  'edge-api': {
    may: [
      ...['secrets', 'checks', 'provider', 'store', 'metrics', 'model', 'pki', 'audit', 'oauth', 'login'],
    ],
    why: 'the other edge, which knows nothing of the Management API',
  },
};

const STORE: FolderTable = {
  schema: { may: [], why: 'the types of the tables, and which database it is' },
  migrations: { may: ['schema'], why: 'how the tables came to be' },
  engine: {
    may: ['schema', 'migrations'],
    why: 'both databases behind one interface; brings a schema up to date',
  },
  records: { may: ['schema', 'engine'], why: 'the queries of each resource' },
};

const GATEWAY: FolderTable = {
  limits: { may: [], why: 'every bound of the data path' },
  http: { may: [], why: 'heads and bodies as HTTP defines them' },
  certificates: { may: ['http'], why: 'which certificate serves a host' },
  traffic: { may: [], why: 'counts what passes' },
  shares: { may: ['http'], why: 'the table that the control plane feeds' },
  answers: { may: ['http'], why: 'what the gateway answers itself, and why' },
  circuits: {
    may: ['limits', 'http', 'certificates', 'traffic', 'shares', 'answers'],
    why: 'where a request goes, and the circuit that takes it there',
  },
  access: {
    may: ['http', 'certificates', 'shares', 'answers', 'circuits'],
    why: 'who may come in at a route; learns from the feed of shares',
  },
  exchange: {
    may: ['limits', 'http', 'traffic', 'shares', 'answers', 'circuits', 'access'],
    why: 'serves one request over one circuit',
  },
  observe: {
    may: ['limits', 'http', 'answers', 'circuits', 'exchange'],
    why: 'what is told of exchanges: log, metrics, records; exchanges know an observer',
  },
};

const ROUTER: FolderTable = {
  config: { may: [], why: 'the router file, which `router check` judges without a router' },
  pools: { may: [], why: 'bounds of work at once, as the file names them' },
  profile: { may: [], why: 'profiles of the process' },
  ctrl: { may: ['config', 'pools'], why: 'channels to controllers; others add what they handle' },
  health: { may: ['config'], why: 'checks and their document' },
  identity: { may: ['config'], why: 'the certificates of the router' },
  renewal: { may: ['config', 'identity'], why: 'renews these' },
  model: { may: ['ctrl'], why: 'the data model that controllers send' },
  metrics: { may: ['config', 'pools', 'ctrl'], why: 'counts, and reports to controllers' },
  trace: { may: ['config', 'profile', 'ctrl'], why: 'what an operator looks at by way of a controller' },
  web: { may: ['config', 'health', 'metrics'], why: 'serves the documents of these' },
  forwarder: { may: ['ctrl', 'metrics'], why: 'moves frames, whatever brings and takes them' },
  link: { may: ['config', 'pools', 'ctrl', 'metrics', 'forwarder'], why: 'channels to other routers' },
  xgress: { may: ['config', 'ctrl', 'metrics', 'forwarder'], why: 'ends of circuits that the router holds' },
  edge: {
    may: ['config', 'pools', 'ctrl', 'model', 'metrics', 'forwarder', 'xgress'],
    why: 'channels to SDKs, and the ends that these hold',
  },
  circuits: {
    may: ['config', 'pools', 'ctrl', 'metrics', 'forwarder', 'xgress', 'edge'],
    why: 'routes that controllers send, set in the forwarder with the ends that they name',
  },
};

/** By the folder whose subfolders a table puts in order. */
export const FOLDERS: Readonly<Record<string, FolderTable>> = {
  'src/control': CONTROL,
  'src/control/store': STORE,
  'src/gateway': GATEWAY,
  'src/router': ROUTER,
};

/** Parts whose folders have a door, their mod.ts, and whose tests keep the arrows too. */
export const DOORED = 'src/control';
