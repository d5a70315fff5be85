/** Proxies of other projects, started in the world beside a customer's site, with a user and a password. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { makeTestAuthority } from './certificates.ts';
import { PROXY_ADDRESS, type CustomerSite, type SiteProcess } from './customer-site.ts';
import { until } from './deadline.ts';

export const PROXY_USER = 'site';
export const PROXY_PASSWORD = 'p.canary_w-2';
export const PROXY_PORT = 3128;
const TLS_PORT = 3129;
const SQUID_HELPER = '/usr/lib/squid/basic_ncsa_auth';

export interface RealProxy {
  /** The scheme and the name in its URL. */
  readonly scheme: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  /** What it logged about connections. */
  log(): string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export const REAL_PROXIES: Readonly<Record<string, (at: CustomerSite) => Promise<RealProxy>>> = {
  squid: (at) => Promise.resolve(squid(at)),
  tinyproxy: (at) => Promise.resolve(tinyproxy(at)),
  microsocks: (at) => Promise.resolve(microsocks(at)),
  'squid behind TLS': behindTls,
};

function squid(at: CustomerSite): RealProxy {
  const hash = execFileSync('openssl', ['passwd', '-apr1', PROXY_PASSWORD], { encoding: 'utf8' }).trim();
  chmodSync(at.folder, 0o755);
  mkdirSync(at.file('squid'));
  chmodSync(at.file('squid'), 0o777);
  writeFileSync(at.file('squid/passwords'), `${PROXY_USER}:${hash}\n`);
  const log = at.file('squid/access.log');
  const lines = [
    `http_port ${PROXY_ADDRESS}:${PROXY_PORT}`,
    `auth_param basic program ${SQUID_HELPER} ${at.file('squid/passwords')}`,
    'auth_param basic realm site',
    'acl known proxy_auth REQUIRED',
    'http_access allow known',
    'http_access deny all',
    `access_log stdio:${log}`,
    `cache_log ${at.file('squid/cache.log')}`,
    `pid_filename ${at.file('squid/squid.pid')}`,
    `coredump_dir ${at.file('squid')}`,
    'cache deny all',
    'pinger_enable off',
    'visible_hostname proxy.example',
    'hosts_file /etc/hosts',
    'dns_nameservers 127.0.0.1',
    'dns_timeout 2 seconds',
    'shutdown_lifetime 0 seconds',
  ];
  writeFileSync(at.file('squid/squid.conf'), `${lines.join('\n')}\n`);
  return proxyOf(at, 'http', ['squid', '-N', '-f', at.file('squid/squid.conf')], () => read(log));
}

function tinyproxy(at: CustomerSite): RealProxy {
  const lines = [
    `Port ${PROXY_PORT}`,
    `Listen ${PROXY_ADDRESS}`,
    'Timeout 600',
    'MaxClients 100',
    `BasicAuth ${PROXY_USER} ${PROXY_PASSWORD}`,
    `LogFile "${at.file('tinyproxy.log')}"`,
    'LogLevel Info',
  ];
  writeFileSync(at.file('tinyproxy.conf'), `${lines.join('\n')}\n`);
  const log = () => read(at.file('tinyproxy.log'));
  return proxyOf(at, 'http', ['tinyproxy', '-d', '-c', at.file('tinyproxy.conf')], log);
}

function microsocks(at: CustomerSite): RealProxy {
  const args = ['-i', PROXY_ADDRESS, '-p', String(PROXY_PORT), '-u', PROXY_USER, '-P', PROXY_PASSWORD];
  return proxyOf(at, 'socks5h', ['microsocks', ...args]);
}

async function behindTls(at: CustomerSite): Promise<RealProxy> {
  const behind = squid(at);
  const { ca, cert, key } = await (
    await makeTestAuthority()
  ).issue('proxy.example', { dns: ['proxy.example'] });
  writeFileSync(at.file('proxy.pem'), `${cert}\n${key}`, { mode: 0o600 });
  writeFileSync(at.file('proxy-ca.pem'), ca);
  const lines = [
    'defaults',
    '  mode tcp',
    '  timeout connect 5s',
    '  timeout client 10m',
    '  timeout server 10m',
    'listen tls',
    `  bind ${PROXY_ADDRESS}:${TLS_PORT} ssl crt ${at.file('proxy.pem')}`,
    `  server squid ${PROXY_ADDRESS}:${PROXY_PORT}`,
  ];
  writeFileSync(at.file('haproxy.cfg'), `${lines.join('\n')}\n`);
  let front: SiteProcess | undefined;
  return {
    scheme: 'https',
    port: TLS_PORT,
    env: { NODE_EXTRA_CA_CERTS: at.file('proxy-ca.pem') },
    log: () => behind.log(),
    async start() {
      await behind.start();
      front = at.start(at.world, 'haproxy', ['-f', at.file('haproxy.cfg')]);
      await untilOpen(at, TLS_PORT, front);
    },
    async stop() {
      await front?.stop('SIGKILL');
      await behind.stop();
    },
  };
}

function proxyOf(
  at: CustomerSite,
  scheme: string,
  [program, ...args]: string[],
  log?: () => string,
): RealProxy {
  let running: SiteProcess | undefined;
  return {
    scheme,
    port: PROXY_PORT,
    env: {},
    log: () => log?.() ?? running?.text() ?? '',
    async start() {
      running = at.start(at.world, program!, args);
      await untilOpen(at, PROXY_PORT, running);
    },
    stop: async () => running?.stop('SIGKILL'),
  };
}

async function untilOpen(at: CustomerSite, port: number, running: SiteProcess): Promise<void> {
  const listening = () => at.world.run('ss', '-Hltn', `sport = :${port}`);
  await until(`a proxy at port ${port}: ${running.text()}`, listening, (text) => {
    if (running.child.exitCode !== null) throw new Error(`the proxy ended: ${running.text()}`);
    return text.trim() !== '';
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
