import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTestAuthority } from '../../support/certificates.ts';
import { POSTGRES_PASSWORD, startPostgres } from '../../support/postgres.ts';
import type { PrivateApp } from '../row.ts';

const ROWS = 100_000;
/** The name in the certificate of the server. */
const NAME = 'db.example';

export const app: PrivateApp = {
  name: 'psql',
  shows: 'a start of TLS with sslmode=verify-full and a COPY of 100,000 rows each way over a private share',
  needs: { psql: 'postgresql' },
  program: async ({ folder }) => {
    const authority = await makeTestAuthority();
    writeFileSync(join(folder, 'ca.pem'), authority.ca);
    const server = await startPostgres({ tls: await authority.issue(NAME, { dns: [NAME] }) });
    return {
      port: server.port,
      tail: () => server.log,
      stop: async () => {
        await server.stop();
        server.destroy();
      },
    };
  },
  checkPrivate: async (share, { folder }) => {
    const target = [
      `host=${NAME} hostaddr=${share.host} port=${share.port} user=frontdoor dbname=postgres`,
      `sslmode=verify-full sslrootcert=${join(folder, 'ca.pem')} connect_timeout=20`,
    ].join(' ');
    const psql = (...commands: readonly string[]): Promise<string> =>
      share.run(
        'psql',
        [
          target,
          '-X',
          '-q',
          '-A',
          '-t',
          '-v',
          'ON_ERROR_STOP=1',
          ...commands.flatMap((each) => ['-c', each]),
        ],
        { PGPASSWORD: POSTGRES_PASSWORD },
      );
    assert.equal(await psql('select ssl from pg_stat_ssl where pid = pg_backend_pid()'), 't\n');
    const file = join(folder, 'rows.csv');
    const counted = await psql(
      `\\copy (select n from generate_series(1, ${ROWS}) n) to '${file}'`,
      'create temporary table copied (n int)',
      `\\copy copied from '${file}'`,
      'select count(*) from copied',
    );
    assert.equal(counted, `${ROWS}\n`);
  },
};
