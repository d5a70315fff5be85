/**
 * The keys of a router file that OpenZiti defines, section by section: those that this router acts on, those that it
 * refuses because it cannot act on them yet, and those without effect in OpenZiti too. Any other key is a slip.
 */
export interface SectionKeys {
  readonly acted: readonly string[];
  readonly later?: readonly string[];
  readonly withoutEffect?: readonly string[];
}

const CSR: SectionKeys = {
  acted: ['country', 'province', 'locality', 'organization', 'organizationalUnit', 'sans'],
};

const SANS: SectionKeys = { acted: ['dns', 'ip', 'uri', 'email'] };

const CHANNEL_OPTIONS = ['outQueueSize', 'maxQueuedConnects', 'maxOutstandingConnects', 'writeTimeout'];

const XGRESS_OPTIONS = [
  'mtu',
  'randomDrops',
  'drop1InN',
  'txQueueSize',
  'txPortalStartSize',
  'txPortalMinSize',
  'txPortalMaxSize',
  'txPortalIncreaseThresh',
  'txPortalIncreaseScale',
  'txPortalRetxThresh',
  'txPortalRetxScale',
  'txPortalDupAckThresh',
  'txPortalDupAckScale',
  'rxBufferSize',
  'retxStartMs',
  'retxScale',
  'retxAddMs',
  'retxMaxMs',
  'maxRttScale',
  'maxCloseWaitMs',
  'getCircuitTimeout',
  'circuitStartTimeout',
];

/** By path; `[]` stands for every item of a list, '' for the file. */
export const SECTION_KEYS: Readonly<Record<string, SectionKeys>> = {
  '': {
    acted: ['v', 'ctrl', 'identity', 'edge', 'csr', 'listeners'],
    later: [
      'dialers',
      'forwarder',
      'healthChecks',
      'link',
      'metrics',
      'trace',
      'transport',
      'profile',
      'web',
      'plugins',
      'proxy',
      'tls',
      'connectEvents',
      'interfaceDiscovery',
      'managedConfig',
      'enableDebugOps',
    ],
  },
  ctrl: {
    acted: ['endpoint', 'endpoints', 'bind', 'defaultRequestTimeout', 'options', 'heartbeats'],
    later: ['endpointsFile', 'startupTimeout', 'rateLimiter', 'listeners'],
    withoutEffect: ['dataDir', 'ha'],
  },
  'ctrl.options': { acted: ['connectTimeout', 'connectTimeoutMs'], later: CHANNEL_OPTIONS },
  'ctrl.heartbeats': {
    acted: ['sendInterval', 'closeUnresponsiveTimeout'],
    later: ['checkInterval', 'unresponsiveAfter'],
  },
  identity: { acted: ['cert', 'key', 'server_cert', 'server_key', 'ca'], later: ['alt_server_certs'] },
  csr: CSR,
  'csr.sans': SANS,
  edge: {
    acted: ['csr'],
    later: [
      'db',
      'dbSaveIntervalSeconds',
      'heartbeatIntervalSeconds',
      'sessionValidateChunkSize',
      'sessionValidateMinInterval',
      'sessionValidateMaxInterval',
      'apiProxy',
    ],
    withoutEffect: ['underlay_type'],
  },
  'edge.csr': CSR,
  'edge.csr.sans': SANS,
  'listeners[]': { acted: ['binding', 'address', 'bind', 'advertise', 'options'], later: ['service'] },
  'listeners[].options': {
    acted: ['advertise', 'connectTimeout', 'connectTimeoutMs'],
    later: [...CHANNEL_OPTIONS, ...XGRESS_OPTIONS, 'lookupApiSessionTimeout', 'lookupSessionTimeout'],
    withoutEffect: ['getSessionTimeout', 'retransmission'],
  },
};
