/** What a piece of work asks the databases of this process for, the heartbeats of their connections left out. */
import { mock } from 'node:test';
import { Worker } from 'node:worker_threads';
import pg from 'pg';

const HEARTBEAT = 'select 1';

/** The texts of the statements in their order, `begin` and `commit` among them, on whichever database they ran. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const embedded = mock.method(Worker.prototype, 'postMessage');
  const postgres = mock.method(pg.Client.prototype, 'query');
  try {
    await work();
    const asked = [...embedded.mock.calls, ...postgres.mock.calls] as readonly { arguments: unknown[] }[];
    return asked.flatMap(({ arguments: [given] }) => textOf(given)).filter((text) => text !== HEARTBEAT);
  } finally {
    embedded.mock.restore();
    postgres.mock.restore();
  }
}

function textOf(given: unknown): string[] {
  if (typeof given === 'string') return [given];
  const { sql, text } = given as { readonly sql?: unknown; readonly text?: unknown };
  return [sql, text].filter((each) => typeof each === 'string');
}
