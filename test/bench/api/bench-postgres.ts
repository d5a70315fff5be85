/** A throw-away PostgreSQL for the benchmark, with fsync as in earnest; undefined when it is not installed. */
import { postgresSkip, startPostgres } from '../../support/postgres.ts';

export async function openBenchPostgres(): Promise<
  { readonly url: string; close(): Promise<void> } | undefined
> {
  if (postgresSkip !== false) return undefined;
  const server = await startPostgres();
  return {
    url: await server.createDatabase(),
    close: async () => {
      await server.stop();
      server.destroy();
    },
  };
}
