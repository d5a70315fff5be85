/**
 * The proxies of the guide "Behind a proxy" as real programs in front of a gateway, with the configurations of the guide
 * itself: only addresses, names and files are replaced. Traefik is taken from `TRAEFIK_BIN`.
 */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { findCommand, startProcess, untilReady } from './child-process.ts';
import type { TestIdentity } from './certificates.ts';
import { writeNginxFile } from './nginx-file.ts';

export const GATEWAY_PROXIES = [
  'nginx',
  'Caddy',
  'Traefik',
  'HAProxy',
  'nginx stream',
  'HAProxy TCP',
] as const;
export type GatewayProxyName = (typeof GATEWAY_PROXIES)[number];

export interface ProxyStart {
  readonly name: GatewayProxyName;
  readonly port: number;
  readonly gatewayPlainPort: number;
  readonly gatewaySecurePort: number;
  /** Its name in the guide is `share.example`. */
  readonly zone: string;
  readonly tls: TestIdentity;
}

const START_MS = 30_000;
/** Debian's package libnginx-mod-stream. */
const STREAM_MODULE = '/usr/lib/nginx/modules/ngx_stream_module.so';
/** Heading of the guide, and which of its blocks. */
const BLOCKS: Readonly<Record<GatewayProxyName, readonly [heading: string, at: number]>> = {
  nginx: ['nginx', 0],
  'nginx stream': ['nginx', 1],
  Caddy: ['Caddy', 0],
  Traefik: ['Traefik', 0],
  HAProxy: ['HAProxy', 0],
  'HAProxy TCP': ['HAProxy', 1],
};

/** The value of `skip` for tests with the proxy. */
export function gatewayProxySkip(name: GatewayProxyName): string | false {
  if (programOf(name) !== undefined) return false;
  if (name === 'Traefik') return 'TRAEFIK_BIN is not set';
  return process.env['FRONTDOOR_TEST_STRICT'] === '1' ? false : `${name} is not installed`;
}

function programOf(name: GatewayProxyName): string | undefined {
  if (name === 'Traefik') return process.env['TRAEFIK_BIN'];
  if (name === 'nginx stream' && !existsSync(STREAM_MODULE)) return undefined;
  return findCommand(name.split(' ')[0]!.toLowerCase());
}

export async function startGatewayProxy(options: ProxyStart): Promise<{ close(): Promise<void> }> {
  const { name, port, zone } = options;
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-proxy-'));
  const running = startProcess(programOf(name) ?? name, argumentsOf(options, folder), {
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
  });
  const close = async (): Promise<void> => {
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(`a listening ${name}`, running, START_MS, async () => {
      // Traefik listens before it has read its file, and has another certificate until then.
      const socket =
        name === 'Traefik'
          ? connectTls({ port, host: '127.0.0.1', servername: `any.${zone}`, ca: options.tls.ca })
          : connect({ port, host: '127.0.0.1' });
      await once(socket, name === 'Traefik' ? 'secureConnect' : 'connect');
      socket.destroy();
    });
    return { close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Writes the files of the program into `folder`. */
function argumentsOf(options: ProxyStart, folder: string): string[] {
  const { name, port, tls } = options;
  const file = (part: string, text: string): string => {
    writeFileSync(join(folder, part), text, { mode: 0o600 });
    return join(folder, part);
  };
  file('share.example.crt', tls.cert);
  file('share.example.key', tls.key);
  file('share.example.pem', `${tls.cert}\n${tls.key}`);
  const text = configurationOf(options, folder);
  switch (name) {
    case 'nginx':
      return writeNginxFile(folder, { http: `access_log off;\n${text}` });
    case 'nginx stream':
      return writeNginxFile(folder, { http: '', after: text, modules: [STREAM_MODULE] });
    case 'Caddy': {
      const settings = '{\n  admin off\n  auto_https disable_redirects\n  default_bind 127.0.0.1\n}\n';
      return ['run', '--adapter', 'caddyfile', '--config', file('Caddyfile', settings + text)];
    }
    case 'Traefik':
      return [
        `--entryPoints.websecure.address=127.0.0.1:${port}`,
        `--providers.file.filename=${file('dynamic.yml', text)}`,
        '--global.checkNewVersion=false',
        '--global.sendAnonymousUsage=false',
      ];
    default:
      return ['-db', '-f', file('haproxy.cfg', `global\n  nbthread 1\n${text}`)];
  }
}

/** Throws if the guide has no longer what is replaced. */
function configurationOf({ name, port, zone, ...options }: ProxyStart, folder: string): string {
  const [heading, at] = BLOCKS[name];
  const isTcp = name === 'nginx stream' || name === 'HAProxy TCP';
  const gateway = isTcp ? options.gatewaySecurePort : options.gatewayPlainPort;
  const replacements: [from: string, to: string][] = [
    [isTcp ? '127.0.0.1:8443' : '127.0.0.1:8080', `127.0.0.1:${gateway}`],
  ];
  if (!isTcp) replacements.push(['/etc/ssl/', `${folder}/`]);
  if (name === 'nginx' || name === 'nginx stream')
    replacements.push(['listen 443', `listen 127.0.0.1:${port}`]);
  if (name === 'nginx') replacements.push(['*.share.example', `*.${zone}`]);
  if (name === 'Caddy') replacements.push(['*.share.example {', `*.${zone}:${port} {`]);
  if (name === 'Traefik') replacements.push(['\\.share\\.example', `\\.${zone.replaceAll('.', '\\.')}`]);
  if (name.startsWith('HAProxy')) replacements.push(['bind :443', `bind 127.0.0.1:${port}`]);
  let text = blockOf(heading, at);
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`the guide has no ${from} for ${name}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

function blockOf(heading: string, at: number): string {
  const guide = readFileSync(new URL('../../docs/guide/behind-a-proxy.md', import.meta.url), 'utf8');
  const section = guide.split('\n## ').find((each) => each.startsWith(`${heading}\n`)) ?? '';
  const [, text] = [...section.matchAll(/```[a-z]+\n(.*?)```/gs)][at] ?? [];
  if (text === undefined) throw new Error(`the guide has no block ${at} about ${heading}`);
  return text;
}
