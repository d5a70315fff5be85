/**
 * The gateway's own cost: nginx as private service, circuits over plain loopback connections (no overlay), wrk as
 * load; side by side with nginx as reverse proxy. Prints requests per second and CPU per request of the gateway's
 * process. Run: node src/gateway/testing/gateway-bench.ts [seconds]. Requires nginx and wrk in PATH.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '#base';
import { startGateway } from '../gateway.ts';
import { OpenAccess } from './open-access.ts';
import { TcpDialer } from './tcp-circuit.ts';

const seconds = Number(process.argv[2] ?? 4);
const ROUNDS = 3;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise<void>((resolve) => {
    server.once('listening', () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  return port;
}

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isUp) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
  throw new Error(`nothing listens on ${port}`);
}

function nginxConfiguration(folder: string, origin: number, proxy: number): string {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  return `daemon off; master_process off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log crit;
events { worker_connections 4096; }
http { access_log off; keepalive_requests 100000000; ${paths.join(' ')}
  upstream private { server 127.0.0.1:${origin}; keepalive 128; keepalive_requests 100000000; }
  server { listen 127.0.0.1:${origin}; location / { return 200 "${'x'.repeat(64)}"; } }
  server { listen 127.0.0.1:${proxy}; location / { proxy_pass http://private; proxy_http_version 1.1; proxy_set_header Connection ""; } } }`;
}

async function wrk(port: number, connections: number): Promise<number> {
  const load = spawn('wrk', [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '-H',
    'Host: app.share.localhost',
    `http://127.0.0.1:${port}/`,
  ]);
  let output = '';
  load.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
  await new Promise<void>((resolve) => {
    load.once('close', () => resolve());
  });
  if (output.includes('Non-2xx') || output.includes('Socket errors')) throw new Error(output);
  return Number(/Requests\/sec:\s*([\d.]+)/.exec(output)?.[1]);
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
const [origin, proxy] = [await freePort(), await freePort()];
writeFileSync(join(folder, 'nginx.conf'), nginxConfiguration(folder, origin, proxy));
const nginx = spawn(execFileSync('which', ['nginx']).toString().trim(), [
  '-c',
  join(folder, 'nginx.conf'),
  '-p',
  folder,
]);
const dialer = new TcpDialer();
dialer.ports.set('app', origin);
const gateway = await startGateway({
  plain: { host: '127.0.0.1', port: 0 },
  dialer,
  access: new OpenAccess(),
  log: silentLog,
});
gateway.table.replaceAll([
  {
    id: 'app',
    token: 'app',
    hosts: ['app.share.localhost'],
    authProviderIds: [],
    customHosts: [],
    rules: null,
    inspection: null,
    frontdoorId: '',
    environmentId: '',
    updatedAtMs: 1,
  },
]);
try {
  await untilListening(proxy);
  for (const connections of [32, 1]) {
    const rows: Record<'nginx' | 'gateway', number[]> = { nginx: [], gateway: [] };
    const cost: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      rows.nginx.push(await wrk(proxy, connections));
      const cpu = process.cpuUsage();
      const before = gateway.stats().requests;
      rows.gateway.push(await wrk(gateway.plainPort!, connections));
      const { user, system } = process.cpuUsage(cpu);
      cost.push((user + system) / (gateway.stats().requests - before));
    }
    const [own, other] = [median(rows.gateway), median(rows.nginx)];
    process.stdout.write(
      `${connections} connections: gateway ${own.toFixed(0)}/s, nginx proxy ${other.toFixed(0)}/s, ` +
        `ratio ${(own / other).toFixed(2)}, gateway CPU ${median(cost).toFixed(1)} µs a request\n`,
    );
  }
} finally {
  await gateway.close();
  nginx.kill();
  rmSync(folder, { recursive: true });
}
