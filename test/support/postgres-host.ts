/**
 * A program that holds the one PostgreSQL of a test run: `postgres-host.ts SOCKET`. It starts the server when the first
 * connection comes, answers each with the server's place as JSON, and removes the databases of test processes that
 * have ended. It ends, and the server with it, when its standard input does.
 */
import { createServer, type Socket } from 'node:net';
import process from 'node:process';
import { startPostgres, type HostedPostgres, type PostgresServer } from './postgres.ts';
import { isAlive } from './process-state.ts';

/** Nothing of this server outlives the run. Tests of what a crash leaves start one of their own. */
const NOT_DURABLE = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
};

let server: Promise<PostgresServer> | undefined;

async function answer(socket: Socket): Promise<void> {
  server ??= startPostgres({ settings: NOT_DURABLE });
  const running = await server;
  await dropAbandoned(running);
  const folder = await running.sql('show unix_socket_directories');
  socket.end(JSON.stringify({ folder, port: running.port } satisfies HostedPostgres));
}

async function dropAbandoned(running: PostgresServer): Promise<void> {
  const names = await running.sql("select datname from pg_database where datname like 'test\\_%'");
  for (const name of names.split('\n')) {
    const pid = /^test_(\d+)_/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) {
      await running.sql(`drop database if exists ${name} with (force)`);
    }
  }
}

const listener = createServer((socket) => {
  socket.on('error', () => socket.destroy());
  answer(socket).catch((error: unknown) => {
    process.stderr.write(`the PostgreSQL of the test run: ${String(error)}\n`);
    socket.destroy();
  });
});
listener.listen(process.argv[2], () => process.stdout.write('ready\n'));
process.stdin.resume().on('end', () => process.exit());
